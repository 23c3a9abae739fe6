"""A judge against people: how often they agree, and what its pass rates are worth."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any

from bears.answers.judging.correction import Rate, corrected_pass_rate
from bears.answers.judging.labels import LabelledAnswer
from bears.answers.judging.ruling import Verdict
from bears.evaluation.intervals import wilson


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
