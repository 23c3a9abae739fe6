"""A judge against people: how often they agree, and what its pass rates are worth."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from bears.answers.judging.labels import LabelledAnswer
from bears.answers.judging.ruling import Verdict
from bears.evaluation.intervals import wilson


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a kappa with its 95 % interval, whose ends are NaN where it is undefined."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> list[float] | None:
        """Return both ends; None where they are undefined."""
        return None if math.isnan(self.low) else [self.low, self.high]


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer with a judge's verdict."""

    labelled: LabelledAnswer
    verdict: Verdict

    @property
    def disagrees(self) -> bool:
        """Whether person and judge say opposite things."""
        label = self.labelled.label
        return label is not None and self.verdict == ("fail" if label else "pass")


def calibrate(answers: Iterable[JudgedAnswer]) -> dict[str, dict[str, Any]]:
    """Each system's `calibration`, in the order in which they first appear."""
    by_system: dict[str, list[JudgedAnswer]] = {}
    for answer in answers:
        by_system.setdefault(answer.labelled.system, []).append(answer)
    return {system: calibration(own) for system, own in by_system.items()}


def calibration(answers: Sequence[JudgedAnswer]) -> dict[str, Any]:
    """How a judge does on the answers of one system.

    Returns:
        ``n``, the answers that have a label and a verdict, and over these: ``human`` and
        ``judge``, the shares that each passes; ``agreement``; ``kappa`` (Cohen's); ``tpr`` and
        ``tnr``, the shares of what people pass and fail on which the judge does the same; and
        ``confusion``, counts by label and verdict. ``judged`` counts all answers that have a
        verdict and ``unscored`` those without one; ``corrected`` is the pass rate of people over
        all that were judged, see `corrected_pass_rate`. Null where a value is undefined.
        ``interval_95`` has ``[low, high]`` of each: Wilson's for shares, the asymptotic one for
        kappa.
    """
    scored = [each for each in answers if each.verdict != "unscored"]
    labelled = [each for each in scored if each.labelled.label is not None]
    counts = {
        (label, passed): sum(
            each.labelled.label is label and (each.verdict == "pass") is passed for each in labelled
        )
        for label in (True, False)
        for passed in (True, False)
    }
    rates = {
        **_rates(counts),
        "corrected": corrected_pass_rate(
            [each.verdict == "pass" for each in scored], [each.labelled.label for each in scored]
        ),
    }
    return {
        "n": len(labelled),
        **{name: rate and rate.value for name, rate in rates.items()},
        "interval_95": {name: rate and rate.interval for name, rate in rates.items()},
        "confusion": {
            f"people_{_word(label)}_judge_{_word(passed)}": count
            for (label, passed), count in counts.items()
        },
        "judged": len(scored),
        "unscored": len(answers) - len(scored),
    }


def _word(passed: bool) -> str:
    return "pass" if passed else "fail"


def _rates(counts: dict[tuple[bool, bool], int]) -> dict[str, Rate | None]:
    both, people, judge, neither = counts.values()
    n = both + people + judge + neither
    return {
        "human": _wilson(both + people, n),
        "judge": _wilson(both + judge, n),
        "agreement": _wilson(both + neither, n),
        "kappa": kappa_of([[both, people], [judge, neither]]),
        "tpr": _wilson(both, both + people),
        "tnr": _wilson(neither, judge + neither),
    }


def _wilson(hits: int, n: int) -> Rate | None:
    return Rate(hits / n, *wilson(hits, n)) if n else None


def kappa_of(table: Sequence[Sequence[int]]) -> Rate | None:
    """Return Cohen's kappa of a table of counts; None where all agree by chance alone.

    It is 0, without an interval, where one side says the same of every answer.
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
    """The share of these answers that people would pass, by a judge whose errors people have seen.

    Of the answers that the judge passes, and of those that it fails, the labelled ones tell what
    share people pass; both shares are weighed by how many the judge passes and fails. That is
    Rogan and Gladen's correction with predictive values in place of rates, which stays within 0
    and 1, and prediction-powered inference with its best weight. The interval joins Jeffreys'
    intervals of the two shares, each for draws without replacement, so it is a point where all are
    labelled. It holds the true rate of EVOUNA's systems in 93 to 97 % of the draws of 100 labels.

    The labelled answers must have been drawn by chance.

    Args:
        judged: whether the judge passes an answer, for every one of them.
        labels: what people say of it; None where they have not seen it.

    Returns:
        None where no answer that the judge passes, or none that it fails, is labelled.

    Source: Cochran, Sampling Techniques (1977), 5A.9, poststratification; the interval is
    Zou and Donner's (Statistics in Medicine 2008) of a sum.
    """
    value = below = above = 0.0
    for verdict in (True, False):
        seen = [label for each, label in zip(judged, labels, strict=True) if each == verdict]
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
    """The share of ``of`` answers, by ``n`` drawn from them without replacement."""
    from statsmodels.stats.proportion import proportion_confint

    share = hits / n
    low, high = proportion_confint(hits, n, method="jeffreys")
    left = math.sqrt((of - n) / (of - 1)) if of > 1 else 0.0
    # Jeffreys' interval leaves out 0 and 1 themselves, where nothing else was seen.
    low, high = (0.0 if hits == 0 else low), (1.0 if hits == n else high)
    return Rate(share, share - left * (share - low), share + left * (high - share))
