"""Compare a judge with people: how often they agree, and what its pass rates are worth."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from bears.answers.judging.labels import LabelledAnswer
from bears.evaluation.intervals import wilson

WORDS = {True: "pass", False: "fail"}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a kappa with its 95 % interval, whose ends are NaN if it is undefined."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> list[float] | None:
        """Return both ends; None if they are undefined."""
        return None if math.isnan(self.low) else [self.low, self.high]


def calibrate(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, Any]]:
    """Return each system's `calibration`, in the order in which they first appear."""
    by_system: dict[str, list[LabelledAnswer]] = {}
    for answer in answers:
        by_system.setdefault(answer.system, []).append(answer)
    return {system: calibration(own) for system, own in by_system.items()}


def calibration(answers: Sequence[LabelledAnswer]) -> dict[str, Any]:
    """Compare a judge with people on the answers of one system.

    Returns:
        ``n``, the answers with a label and a verdict, and over these: ``human`` and ``judge``,
        the shares that each passes; ``agreement``; ``kappa`` (Cohen's); ``tpr`` and ``tnr``, the
        shares of what people pass and fail on which the judge does the same; and ``confusion``,
        counts by label and verdict. ``judged`` counts all answers with a verdict and ``unscored``
        those without one; ``corrected`` is people's pass rate over all judged answers, see
        `corrected_pass_rate`. A value is None if it is undefined. ``interval_95`` has
        ``[low, high]`` of each: Wilson's for shares, the asymptotic one for kappa.
    """
    scored = [answer for answer in answers if answer.verdict != "unscored"]
    verdicts, labels = [a.verdict == "pass" for a in scored], [a.label for a in scored]
    counts = Counter(zip(labels, verdicts, strict=True))
    both, people, judge, neither = (counts[a, b] for a in (True, False) for b in (True, False))
    n = both + people + judge + neither
    rates = {
        "human": _wilson(both + people, n),
        "judge": _wilson(both + judge, n),
        "agreement": _wilson(both + neither, n),
        "kappa": kappa_of([[both, people], [judge, neither]]),
        "tpr": _wilson(both, both + people),
        "tnr": _wilson(neither, judge + neither),
        "corrected": corrected_pass_rate(verdicts, labels),
    }
    return {
        "n": n,
        **{name: rate and rate.value for name, rate in rates.items()},
        "interval_95": {name: rate and rate.interval for name, rate in rates.items()},
        "confusion": {
            f"people_{WORDS[label]}_judge_{WORDS[passed]}": counts[label, passed]
            for label in WORDS
            for passed in WORDS
        },
        "judged": len(scored),
        "unscored": len(answers) - len(scored),
    }


def _wilson(hits: int, n: int) -> Rate | None:
    return Rate(hits / n, *wilson(hits, n)) if n else None


def kappa_of(table: Sequence[Sequence[int]]) -> Rate | None:
    """Return Cohen's kappa of a table of counts; None if chance alone explains full agreement.

    It is 0, without an interval, if one side gives the same verdict on every answer.
    """
    from statsmodels.stats.inter_rater import cohens_kappa

    rows, columns = ([sum(counts) for counts in way] for way in (table, zip(*table, strict=True)))
    if sum(map(mul, rows, columns)) == sum(rows) ** 2:
        return None
    if 1 in (sum(map(bool, rows)), sum(map(bool, columns))):
        return Rate(0.0, math.nan, math.nan)
    found = cohens_kappa(table)
    return Rate(float(found.kappa), float(found.kappa_low), float(found.kappa_upp))


def corrected_pass_rate(judged: Sequence[bool], labels: Sequence[bool | None]) -> Rate | None:
    """Estimate the share of answers that people would pass, from a judge and some labels.

    The labels estimate the share that people pass among the answers that the judge passes, and
    among those that it fails. Both shares are weighted by how many the judge passes and fails. That
    is Rogan and Gladen's correction with predictive values in place of rates, which stays within 0
    and 1, and prediction-powered inference with its best weight. The interval joins Jeffreys'
    intervals of the two shares, each for draws without replacement, so it is a point if all
    answers are labelled. It holds the true rate of EVOUNA's systems in 93 to 97 % of the draws of
    100 labels.

    The labelled answers must be a random sample.

    Args:
        judged: whether the judge passes an answer, for every answer.
        labels: people's label of it; None if it has no label.

    Returns:
        None if no answer that the judge passes, or none that it fails, is labelled.

    Source: Cochran, Sampling Techniques (1977), 5A.9, poststratification; the interval is
    Zou and Donner's (Statistics in Medicine 2008) of a sum.
    """
    value = below = above = 0.0
    for verdict in (True, False):
        seen = [label for own, label in zip(judged, labels, strict=True) if own == verdict]
        known = [label for label in seen if label is not None]
        if not seen:
            continue
        if not known:
            return None
        weight, part = len(seen) / len(judged), _share(sum(known), len(known), len(seen))
        value += weight * part.value
        below += (weight * (part.value - part.low)) ** 2
        above += (weight * (part.high - part.value)) ** 2
    return Rate(value, max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above)))


def _share(hits: int, n: int, of: int) -> Rate:
    """Estimate a share of ``of`` answers from ``n`` drawn without replacement."""
    from statsmodels.stats.proportion import proportion_confint

    share = hits / n
    low, high = proportion_confint(hits, n, method="jeffreys")
    left = math.sqrt((of - n) / (of - 1)) if of > 1 else 0.0
    # Jeffreys' interval leaves out 0 and 1 themselves, even if nothing else was seen.
    low, high = (0.0 if hits == 0 else low), (1.0 if hits == n else high)
    return Rate(share, share - left * (share - low), share + left * (high - share))
