"""F1 of the evidence that an answer names."""

from collections.abc import Collection


def evidence_f1(evidence: Collection[str], reference: Collection[str]) -> float:
    """Return the harmonic mean of the precision and the recall of the named paragraphs.

    1 if both are empty, as for an unanswerable question. A repeated paragraph counts twice in the
    divisor and once as a hit. The best of several references counts.

    Source: the official evaluation of QASPER.
    """
    if not evidence and not reference:
        return 1.0
    same = len(set(evidence) & set(reference))
    if not same:
        return 0.0
    precision, recall = same / len(evidence), same / len(reference)
    return 2 * precision * recall / (precision + recall)
