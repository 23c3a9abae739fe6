"""All pairs of systems under all measures, before any correction, and groups of those alike."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_letters
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from bears.evaluation.clusters import (
    Clusters,
    Floats,
    effective,
    standard_error,
    sums,
    t_quantile,
    together,
)
from bears.evaluation.comparison import paired
from bears.evaluation.means import (
    amount,
    ends_of,
    random_means,
    scale_of,
    t_half_width,
    worst_case,
    yes_or_no,
)
from bears.evaluation.trace_measures import sign_of

SCALED = ("mean_a", "mean_b", "difference", "low", "high", "spread")
ROUNDING = 1e-12
"""Values that differ by no more are the same."""
BESIDE = 1e-12
"""An end of an interval that is beside 0."""
FEW = 10.0
"""If fewer clusters decide, and less than a third of them, a t interval would not hold."""
SHARE, GRADED, AMOUNT = range(3)
"""Yes-or-no measures, measures between 0 and a best value, and amounts without an end."""
Placed = tuple[str, tuple[int, int]]
"""The group letters of a system, and the best and the worst rank that it may have."""


def pairs_of(
    values: Mapping[str, Floats],
    names: Sequence[str],
    draws: int,
    margin: float | None = None,
    clusters: Clusters | None = None,
    one_sided: bool = False,
) -> pd.DataFrame:
    """Compare every pair of systems under every measure.

    Args:
        values: measure to shape (n, s), a column for each of ``names``; NaN if undefined. A pair
            is compared on the questions for which both values are defined.
        draws: of the randomization test.
        margin: the largest difference that does not matter; None to test no equivalence.
        clusters: of the n questions, if they belong together.
        one_sided: p is that the first system is worse, and intervals are those of `level_of`.

    Returns:
        A row for each: ``measure, a, b, test, n, scale, mean_a, mean_b, difference, low, high,
        spread, p, p_equal, least_p``; NaN if there are too few questions. ``low`` and ``high`` are
        NaN too if both systems have the same values. ``least_p`` is the smallest p that so many
        questions or clusters can have.
    """
    pairs = list(combinations(range(len(names)), 2))
    scales = np.repeat([scale_of(v, m) for m, v in values.items()], len(pairs))
    of = together(clusters)
    kinds = np.repeat([kind_of(m, v, of) for m, v in values.items()], len(pairs))
    a, b = (
        np.hstack([v[:, [p[i] for p in pairs]] for v in values.values()]) / scales for i in (0, 1)
    )
    # The statistics take more for better.
    signs = np.repeat([sign_of(measure) for measure in values], len(pairs))
    a, b = a * signs, b * signs
    defined = ~(np.isnan(a) | np.isnan(b))
    frame = pd.DataFrame(
        [(measure, names[i], names[j]) for measure in values for i, j in pairs],
        columns=["measure", "a", "b"],
    )
    frame["test"] = np.where(kinds == SHARE, "McNemar", "randomisation")
    frame["n"] = defined.sum(axis=0)
    frame["scale"] = scales
    frame[[*SCALED, "p", "p_equal", "least_p"]] = np.nan
    # Pairs of one kind that are defined for the same questions share their random draws.
    alike, alike_of = np.unique(np.vstack([kinds, defined]), axis=1, return_inverse=True)
    for i, (kind, *known) in enumerate(alike.T):
        mask = np.array(known, bool)
        if mask.any():
            same = np.flatnonzero(alike_of.ravel() == i)
            part = a[mask][:, same], b[mask][:, same]
            margins = None if margin is None else margin / scales[same]
            if kind == SHARE:
                found = of_shares(*part, margins, one_sided)
            elif kind == GRADED and of is None:
                found = of_means(*part, draws, margins, one_sided)
            else:
                each = np.arange(mask.sum()) if of is None else of[mask]
                found = of_clusters(*part, each, draws, margins, one_sided, kind == AMOUNT)
            units = mask.sum() if of is None else len(np.unique(of[mask]))
            found["least_p"] = np.full(len(same), (1 if one_sided else 2) * 0.5**units)
            # Where all values are the same, no difference was measured.
            equal = np.abs(part[0] - part[1]).max(axis=0) <= ROUNDING
            for end in ("low", "high"):
                found[end] = np.where(equal | np.isinf(found[end]), np.nan, found[end])
            for name, column in found.items():
                frame.loc[same, name] = column * scales[same] if name in SCALED else column
    for name in ("mean_a", "mean_b", "difference"):
        frame[name] *= signs
    ends = frame[["low", "high"]].to_numpy()
    frame[["low", "high"]] = np.where(signs[:, None] < 0, -ends[:, ::-1], ends)
    return frame


def kind_of(measure: str, values: Floats, clusters: Clusters | None) -> int:
    """Return which methods fit the values of a measure."""
    if amount(measure):
        return AMOUNT
    return SHARE if clusters is None and yes_or_no(values) else GRADED


def seen_as_gain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pair with its difference and interval as what the first system gains."""
    if sign_of(row["measure"]) > 0:
        return {**row}
    ends = {"difference": row["difference"], "low": row["high"], "high": row["low"]}
    return {**row, **{name: None if end is None else -end for name, end in ends.items()}}


def level_of(one_sided: bool) -> float:
    """Return the level of the intervals whose ends say what p says at `ALPHA`."""
    return 1 - 2 * paired.ALPHA if one_sided else 1 - paired.ALPHA


def of_shares(
    a: Floats, b: Floats, margins: Floats | None = None, one_sided: bool = False
) -> dict[str, Floats]:
    """Return the columns of m pairs under yes-or-no measures; a and b have shape (n, m)."""
    counts = _counts(a, b)
    low, high = paired.score_interval(
        *counts, paired.exact_critical_value(counts[0] + counts[1], level_of(one_sided))
    )
    found = {**_means(a, b), "low": low, "high": high, "p": paired.mcnemar(*counts[:2], one_sided)}
    return found if margins is None else {**found, "p_equal": paired.equal_shares(*counts, margins)}


def of_means(
    a: Floats, b: Floats, draws: int, margins: Floats | None = None, one_sided: bool = False
) -> dict[str, Floats]:
    """Return the columns of m pairs under graded measures, whose values differ by 1 at most."""
    found = {**_means(a, b), "p": paired.randomization(a - b, draws, one_sided)}
    return agreeing(found | _random(a - b, margins, one_sided), one_sided)


def of_clusters(
    a: Floats,
    b: Floats,
    clusters: Clusters,
    draws: int,
    margins: Floats | None = None,
    one_sided: bool = False,
    amounts: bool = False,
) -> dict[str, Floats]:
    """Return the columns of m pairs whose questions belong together, or whose values have no end.

    Signs change by cluster. The interval is that of a t distribution, or, unless the values are
    amounts, that of `of_means` for the same questions where it is wider: a t interval does not hold
    if few questions differ much more than the others. The tests of equality go with the interval.
    """
    differences, found = a - b, _means(a, b)
    errors, freedom = standard_error(differences, clusters)
    half = errors * t_quantile((1 - level_of(one_sided)) / 2, freedom)
    found["p"] = paired.randomization(sums(differences, clusters), draws, one_sided)
    # As of independent questions with this standard error.
    found["spread"] = np.where(np.isinf(errors), np.nan, errors * np.sqrt(len(a)))
    ends = {"low": found["difference"] - half, "high": found["difference"] + half}
    if margins is not None:
        away = (margins - np.abs(found["difference"])) / np.maximum(errors, ROUNDING)
        ends["p_equal"] = special.stdtr(freedom, -away)
    if not amounts:
        by_question = _random(differences, margins, one_sided)
        ends["low"] = np.minimum(by_question["low"], np.maximum(ends["low"], -1.0))
        ends["high"] = np.maximum(by_question["high"], np.minimum(ends["high"], 1.0))
        if margins is not None:
            ends["p_equal"] = np.maximum(by_question["p_equal"], ends["p_equal"])
    return agreeing(found | ends, one_sided)


def _random(differences: Floats, margins: Floats | None, one_sided: bool) -> dict[str, Floats]:
    """Return ``low``, ``high`` and, with margins, ``p_equal`` of each column's mean."""
    means = random_means(differences, -1.0, 1.0)
    low, high = ends_of(means, differences, (1 - level_of(one_sided)) / 2)
    if margins is None:
        return {"low": low, "high": high}
    beyond = np.maximum((means <= -margins).sum(axis=0), (means >= margins).sum(axis=0))
    return {"low": low, "high": high, "p_equal": (beyond + 1) / (len(means) + 1)}


def agreeing(found: Mapping[str, Floats], one_sided: bool) -> dict[str, Floats]:
    """Return columns whose intervals exclude 0 if and only if p is at most `ALPHA`.

    p and the interval come from different methods. Where they disagree, the end next to 0 moves to
    0, on the side that p says.
    """
    low, high, difference = found["low"], found["high"], found["difference"]
    sure = found["p"] <= paired.ALPHA
    # One-sided, p speaks of losses alone.
    gains, losses = sure & (difference > 0) & (not one_sided), sure & (difference < 0)
    low = np.where(gains, np.maximum(low, BESIDE), np.minimum(low, 0.0) if not one_sided else low)
    high = np.where(losses, np.minimum(high, -BESIDE), np.maximum(high, 0.0))
    return {**found, "low": low, "high": high}


def loss_bound(differences: Floats, clusters: Clusters | None) -> float:
    """Return the lower end of the mean that holds at 95 % whatever the values are.

    With clusters it is the lower one of this bound over questions and the end of a t interval. If
    few clusters decide, it is the bound over the sums of the clusters.

    Args:
        differences: shape (n,), at most 1.
        clusters: of the questions, if they belong together.
    """
    column, of = differences[:, None], together(clusters)
    (low,) = worst_case(column, -1.0, paired.ALPHA)
    if of is not None:
        totals, number = sums(column, of), effective(of)
        # How many clusters of equal differences are worth as much: (Σ|d|)² / Σd².
        squares = max(float((totals**2).sum()), ROUNDING**2)
        if np.abs(totals).sum() ** 2 / squares < min(FEW, number / 3):
            # A cluster that is not there is as large as that of a random question.
            (low,) = worst_case(totals, -len(totals) / number, paired.ALPHA)
        else:
            half = t_half_width(column, of, level_of(one_sided=True))[0]
            low = min(low, float(differences.mean()) - half)
    return float(max(low, -1.0))


def _means(a: Floats, b: Floats) -> dict[str, Floats]:
    means = {"mean_a": a.mean(axis=0), "mean_b": b.mean(axis=0), "difference": (a - b).mean(axis=0)}
    return {**means, "spread": (a - b).std(axis=0, ddof=1)} if len(a) > 1 else means


def _counts(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Count the questions of each pair on which a is better, those on which b is, and all."""
    d = a - b
    n = np.full(d.shape[1], float(len(d)))
    return (d > ROUNDING).sum(axis=0) * 1.0, (d < -ROUNDING).sum(axis=0) * 1.0, n


def placed(means: Mapping[str, float], different: Collection[frozenset[str]]) -> dict[str, Placed]:
    """Return the group and the rank range of each system.

    Args:
        means: system to its mean; a higher one is better.
        different: pairs whose difference is significant.
    """
    # Means that differ by rounding alone are the same.
    ordered = sorted(means, key=lambda name: (-round(means[name], 12), name))
    groups, ranks = letters(ordered, different), rank_ranges(means, different)
    return {name: (groups[name], ranks[name]) for name in means}


def letters(ordered: Sequence[str], different: Collection[frozenset[str]]) -> dict[str, str]:
    """Return the compact letter display: systems that share a letter do not differ significantly.

    Source: the insert-and-absorb algorithm of Piepho, Journal of Computational and Graphical
    Statistics 13 (2004). Each letter is a maximal set of systems of which no two differ.

    Args:
        ordered: systems, the highest mean first; the first system is in group ``a``.
        different: pairs that differ.
    """
    sets = [frozenset(ordered)]
    for pair in different:
        kept = [each for each in sets if not pair <= each]
        halves = (each - {name} for each in sets if pair <= each for name in pair)
        sets = kept + [half for half in halves if not any(half <= each for each in kept)]
    place = {name: i for i, name in enumerate(ordered)}
    groups = sorted(sorted(map(place.__getitem__, group)) for group in sets)
    return {
        name: "".join(_letter(i) for i, group in enumerate(groups) if place[name] in group)
        for name in ordered
    }


def _letter(number: int) -> str:
    """Return a to z, A to Z, and then any other letters."""
    return ascii_letters[number] if number < len(ascii_letters) else chr(0x100 + number)


def rank_ranges(
    means: Mapping[str, float], different: Collection[frozenset[str]]
) -> dict[str, tuple[int, int]]:
    """Return the best and the worst rank that each system may have; 1 is the best rank.

    The ranges hold for all systems at once, at the level at which all of ``different`` hold at
    once. A system ranks below all that are significantly better, and above all that are
    significantly worse.

    Source: Mohamad, Goeman and van Zwet, Simultaneous confidence intervals for ranks (2018).
    """
    return {
        name: (
            1 + sum(frozenset((name, o)) in different for o in means if means[o] > mean),
            len(means) - sum(frozenset((name, o)) in different for o in means if means[o] < mean),
        )
        for name, mean in means.items()
    }
