"""Compare a judge with people: how often they agree, and what its pass rates are worth."""

import math
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np

from bears.answers.judging.labels import LabelledAnswer
from bears.answers.judging.ruling import VALUES
from bears.config.ledger.agreement import Rate, kappa_of
from bears.evaluation.clusters import Floats, wilson
from bears.evaluation.prediction_powered import estimate, exchange_interval, exchange_rate


def calibrate(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, Any]]:
    """Return each system's `calibration`, in the order in which they first appear."""
    systems = _by_system(answers)
    return {name: calibration(*np.array([*own.values()]).T) for name, own in systems.items()}


def differences(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, Any]]:
    """Return what the judge is worth for the difference of each pair of systems.

    Returns:
        For each pair, over the questions on which both have a verdict: ``n``, those with both
        labels; ``corrected`` and ``alone``, the difference of people's pass rates with and without
        the judge; ``worth``; and ``interval_95``, as `calibration`.
    """
    found = {}
    for (one, ours), (other, theirs) in combinations(_by_system(answers).items(), 2):
        both = [np.subtract(ours[q], theirs[q]) for q in ours if q in theirs]
        scored = [each for each in both if not math.isnan(each[1])]
        if scored:
            labels, verdicts = np.array(scored).T
            found[f"{one} - {other}"] = _described({}, labels, verdicts, worst=-1)
    return found


def _by_system(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, tuple[float, float]]]:
    """Return system to question_id to the values of label and verdict; NaN without one."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for each in answers:
        label = math.nan if each.label is None else float(each.label)
        found.setdefault(each.system, {})[each.case.question_id] = label, VALUES[each.verdict]
    return found


def calibration(labels: Floats, verdicts: Floats) -> dict[str, Any]:
    """Compare a judge with people on the items of one system.

    Args:
        labels: people's values of the items, from 0 to 1, NaN for an item without one.
        verdicts: the judge's, on the same scale.

    Returns:
        ``n``, the items with a label and a verdict, and over these: ``human`` and ``judge``, the
        mean of each; ``agreement``; ``kappa`` (Cohen's); and ``tpr`` and ``tnr``, the shares of
        what people give 1 and 0 to which the judge gives the same. ``judged`` counts all items
        with a verdict and ``unscored`` those without one; ``corrected`` is people's mean over all
        judged items, and ``alone`` the same from the labels without the judge, see
        `bears.evaluation.prediction_powered`; ``worth`` is how many labels without the judge are
        worth one with it. A value is None if it is undefined. ``interval_95`` has ``[low,
        high]`` of each: Wilson's for means, the asymptotic one for kappa.
    """
    scored = ~np.isnan(verdicts)
    known = scored & ~np.isnan(labels)
    people, judge = labels[known], verdicts[known]
    same = people == judge
    rates = {
        "human": _wilson(people),
        "judge": _wilson(judge),
        "agreement": _wilson(same),
        "kappa": kappa_of([*zip(people.tolist(), judge.tolist(), strict=True)]),
        "tpr": _wilson(same[people == 1]),
        "tnr": _wilson(same[people == 0]),
    }
    counts = {"judged": int(scored.sum()), "unscored": int((~scored).sum())}
    return {**_described(rates, labels[scored], verdicts[scored]), **counts}


def _wilson(values: Floats) -> Rate | None:
    n, hits = len(values), float(values.sum())
    return Rate(hits / n, *wilson(hits, n)) if n else None


def _described(
    rates: Mapping[str, Rate | None], labels: Floats, judged: Floats, worst: float = 0
) -> dict[str, Any]:
    """Return ``n``, rates, people's mean with and without the judge, and what the judge is worth.

    Args:
        labels: people's, NaN for an item without one.
        judged: the judge's labels of the same items.
        worst: the lowest label.
    """
    found: dict[str, Rate | None] = {
        **rates,
        "corrected": estimate(labels, judged, worst),
        "alone": estimate(labels, np.zeros(len(judged)), worst),
    }
    known = {
        name: None if rate is None or math.isnan(rate.low) else [rate.low, rate.high]
        for name, rate in found.items()
    }
    return {
        "n": int((~np.isnan(labels)).sum()),
        **{name: rate and rate.value for name, rate in found.items()},
        "worth": exchange_rate(labels, judged),
        "interval_95": {**known, "worth": exchange_interval(labels, judged)},
    }
