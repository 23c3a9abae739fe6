"""Compare a judge with people: how often they agree, and what its pass rates are worth."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np

from bears.answers.judging.labels import LabelledAnswer
from bears.errors import LedgerError
from bears.evaluation.clusters import Floats, wilson
from bears.evaluation.prediction_powered import Estimate, estimate, exchange_interval, exchange_rate

WORDS = {True: "pass", False: "fail"}


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a kappa with its 95 % interval, whose ends are NaN if it is undefined."""

    value: float
    low: float
    high: float


def interval_of(rate: Rate | Estimate | None) -> list[float] | None:
    """Return both ends; None if they are undefined."""
    return None if rate is None or math.isnan(rate.low) else [rate.low, rate.high]


def calibrate(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, Any]]:
    """Return each system's `calibration`, in the order in which they first appear."""
    return {system: calibration([*own.values()]) for system, own in _by_system(answers).items()}


def differences(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, Any]]:
    """Return what the judge is worth for the difference of each pair of systems.

    Returns:
        For each pair, over the questions on which both have a verdict: ``n``, those with both
        labels; ``corrected`` and ``alone``, the difference of people's pass rates with and without
        the judge; ``worth``; and ``interval_95``, as `calibration`.
    """
    systems, found = _by_system(answers), {}
    for one, other in combinations(systems, 2):
        ours, theirs = systems[one], systems[other]
        pairs = [(ours[q], theirs[q]) for q in ours if q in theirs]
        scored = [pair for pair in pairs if "unscored" not in {each.verdict for each in pair}]
        if not scored:
            continue
        # A label that is None becomes NaN.
        given = np.array([(a.label, b.label) for a, b in scored], float)
        labels = given[:, 0] - given[:, 1]
        judged = np.array([float(a.verdict == "pass") - (b.verdict == "pass") for a, b in scored])
        found[f"{one} - {other}"] = _described(labels, judged, {}, worst=-1)
    return found


def _described(
    labels: Floats, judged: Floats, rates: Mapping[str, Rate | None], worst: float = 0
) -> dict[str, Any]:
    """Return ``n``, rates, people's mean with and without the judge, and what the judge is worth.

    Args:
        labels: people's, NaN for an item without one.
        judged: the judge's labels of the same items.
        worst: the lowest label.
    """
    found: dict[str, Rate | Estimate | None] = {
        **rates,
        "corrected": estimate(labels, judged, worst),
        "alone": estimate(labels, np.zeros(len(judged)), worst),
    }
    ends = {name: interval_of(rate) for name, rate in found.items()}
    return {
        "n": int((~np.isnan(labels)).sum()),
        **{name: rate and rate.value for name, rate in found.items()},
        "worth": exchange_rate(labels, judged),
        "interval_95": {**ends, "worth": exchange_interval(labels, judged)},
    }


def _by_system(answers: Iterable[LabelledAnswer]) -> dict[str, dict[str, LabelledAnswer]]:
    found: dict[str, dict[str, LabelledAnswer]] = {}
    for answer in answers:
        found.setdefault(answer.system, {})[answer.case.question_id] = answer
    return found


def calibration(answers: Sequence[LabelledAnswer]) -> dict[str, Any]:
    """Compare a judge with people on the answers of one system.

    Returns:
        ``n``, the answers with a label and a verdict, and over these: ``human`` and ``judge``,
        the shares that each passes; ``agreement``; ``kappa`` (Cohen's); ``tpr`` and ``tnr``, the
        shares of what people pass and fail on which the judge does the same; and ``confusion``,
        counts by label and verdict. ``judged`` counts all answers with a verdict and ``unscored``
        those without one; ``corrected`` is people's pass rate over all judged answers, and
        ``alone`` the same from the labels without the judge, see
        `bears.evaluation.prediction_powered`; ``worth`` is how many labels without the judge are
        worth one with it. A value is None if it is undefined. ``interval_95`` has ``[low,
        high]`` of each: Wilson's for shares, the asymptotic one for kappa.
    """
    scored = [answer for answer in answers if answer.verdict != "unscored"]
    verdicts, labels = [a.verdict == "pass" for a in scored], [a.label for a in scored]
    counts = Counter(zip(labels, verdicts, strict=True))
    both, people, judge, neither = (counts[a, b] for a in (True, False) for b in (True, False))
    n = both + people + judge + neither
    given = [math.nan if label is None else float(label) for label in labels]
    judged = [float(verdict) for verdict in verdicts]
    shares = {
        "human": _wilson(both + people, n),
        "judge": _wilson(both + judge, n),
        "tpr": _wilson(both, both + people),
        "tnr": _wilson(neither, judge + neither),
    }
    found = grade_calibration(given, judged)
    ends = {name: interval_of(rate) for name, rate in shares.items()}
    return {
        **found,
        **{name: rate and rate.value for name, rate in shares.items()},
        "interval_95": {**found["interval_95"], **ends},
        "confusion": {
            f"people_{WORDS[label]}_judge_{WORDS[passed]}": counts[label, passed]
            for label in WORDS
            for passed in WORDS
        },
        "judged": len(scored),
        "unscored": len(answers) - len(scored),
    }


def grade_calibration(labels: Sequence[float], grades: Sequence[float]) -> dict[str, Any]:
    """Compare a judge's grades with people's.

    Args:
        labels: people's values of the items, from 0 to 1, NaN for an item without one.
        grades: the judge's, on the same scale.

    Returns:
        ``n``, ``agreement``, ``kappa``, ``corrected``, ``alone``, ``worth`` and ``interval_95`` as
        `calibration` has them; ``human`` and ``judge`` are mean values of the items with a label.
    """
    given, judged = np.array(labels, float), np.array(grades, float)
    known = ~np.isnan(given)
    n = int(known.sum())
    counts = Counter(zip(given[known].tolist(), judged[known].tolist(), strict=True))
    used = sorted({value for pair in counts for value in pair})
    rates = {
        "agreement": _wilson(sum(counts[value, value] for value in used), n),
        "kappa": kappa_of([[counts[a, b] for b in used] for a in used]),
    }
    means = {"human": float(given[known].mean()), "judge": float(judged[known].mean())} if n else {}
    return {"n": n, **means, **_described(given, judged, rates)}


def _wilson(hits: int, n: int) -> Rate | None:
    return Rate(hits / n, *wilson(hits, n)) if n else None


def agreement(pairs: Sequence[tuple[object, object]], what: str) -> str:
    """Return how many of people's decisions agree, with Cohen's kappa; empty without any.

    Args:
        pairs: two decisions on the same thing.
        what: these are, with their verb.
    """
    counts = Counter(pairs)
    used = {decision for pair in counts for decision in pair}
    kappa = kappa_of([[counts[old, new] for new in used] for old in used])
    shown = f", Cohen's kappa {kappa.value:.2f}" if kappa else ""
    same = sum(counts[each, each] for each in used)
    return f"{len(pairs)} {what}: {same} of them the same{shown}\n" if pairs else ""


def check_again(
    file: Path, again: Sequence[tuple[str, str, str]], what: str, replaced: bool
) -> None:
    """Print how far decisions agree with earlier ones, and refuse to change these.

    Args:
        file: has the new decisions.
        again: what is decided, and the earlier and the new decision on it.
        what: they are about.
        replaced: whether they may be changed.

    Raises:
        LedgerError: naming one that differs.
    """
    print(agreement([(old, new) for _, old, new in again], f"{what} before"), end="")
    changed = [each for each in again if each[1] != each[2]]
    if changed and not replaced:
        about, old, new = changed[0]
        raise LedgerError(
            f"{file}: {len(changed)} {what} otherwise before, such as {about}, which was {old} and "
            f"is {new}. Nothing was imported; --replace overwrites the earlier ones"
        )


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
