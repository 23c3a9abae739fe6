"""The measures of TREC's RAG track of 2024: nuggets of an answer, and support of its citations.

Source: Pradeep et al., arXiv 2411.09607 and 2504.15205.
"""

from collections.abc import Sequence
from math import floor, nan

OKAY = 0.5
"""The weight of a nugget that is okay, beside a vital one."""


def nugget_scores(credits: Sequence[float], vital: Sequence[bool]) -> dict[str, float]:
    """Return the six measures of one answer; ``nugget_vital`` is undefined without a vital nugget.

    Args:
        credits: 1, 0.5 or 0 for each nugget of the question: supported, in part, or not. The strict
            measures count a part as nothing.
        vital: whether each is vital.
    """
    weights = {
        "all": [1.0] * len(vital),
        "vital": [float(each) for each in vital],
        "weighted": [1.0 if each else OKAY for each in vital],
    }
    strict = [floor(credit) for credit in credits]
    return {
        f"nugget_{name}{ending}": mean(own, of_each)
        for ending, own in (("", credits), ("_strict", strict))
        for name, of_each in weights.items()
    }


def citation_scores(credits: Sequence[float | None]) -> dict[str, float]:
    """Return ``citation_precision`` and ``citation_recall`` of one answer.

    Precision is over the sentences that cite, and undefined without one; recall is over all.

    Args:
        credits: 1, 0.5 or 0 for each sentence whose first citation supports it fully, in part, or
            not; None for one without a citation.
    """
    citing = [credit for credit in credits if credit is not None]
    return {
        "citation_precision": mean(citing, [1.0] * len(citing)),
        "citation_recall": mean([credit or 0.0 for credit in credits], [1.0] * len(credits)),
    }


def mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the weighted mean; NaN without a weight."""
    total = sum(weights)
    return sum(map(float.__mul__, map(float, values), weights)) / total if total else nan
