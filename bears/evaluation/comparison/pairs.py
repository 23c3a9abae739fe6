"""All pairs of systems under all measures: differences, intervals and p, before any correction."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from bears.evaluation.bootstrap import FEW, bootstrap, scale_of, yes_or_no
from bears.evaluation.clusters import Clusters, Floats, effective, standard_error, sums, usable
from bears.evaluation.comparison.equivalence import equal_for_few, equal_means, equal_shares
from bears.evaluation.comparison.paired import (
    ALPHA,
    bounded_interval,
    exact_critical_value,
    mcnemar,
    randomization,
    score_interval,
)

SCALED = ("mean_a", "mean_b", "difference", "low", "high", "spread")
ROUNDING = 1e-12
"""Values that differ by no more are the same."""


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
        spread, p, p_equal, wide``; NaN if there are too few questions. ``wide`` is 1 where fewer
        than `FEW` questions or clusters differ; ``low`` and ``high`` are then those of
        `bounded_interval`.
    """
    pairs = list(combinations(range(len(names)), 2))
    scales = np.repeat([scale_of(column) for column in values.values()], len(pairs))
    of = usable(clusters)
    shares = np.repeat([yes_or_no(c) and of is None for c in values.values()], len(pairs))
    a, b = (
        np.hstack([v[:, [p[i] for p in pairs]] for v in values.values()]) / scales for i in (0, 1)
    )
    defined = ~(np.isnan(a) | np.isnan(b))
    frame = pd.DataFrame(
        [(measure, names[i], names[j]) for measure in values for i, j in pairs],
        columns=["measure", "a", "b"],
    )
    frame["test"] = np.where(shares, "McNemar", "randomisation")
    frame["n"] = defined.sum(axis=0)
    frame["scale"] = scales
    frame[[*SCALED, "p", "p_equal"]] = np.nan
    frame["wide"] = 0.0
    # Pairs of one kind that are defined for the same questions share their random draws.
    kinds, kind_of = np.unique(np.vstack([shares, defined]), axis=1, return_inverse=True)
    for i, (share, *mask) in enumerate(kinds.T.astype(bool)):
        if any(mask):
            same = np.flatnonzero(kind_of.ravel() == i)
            part = a[mask][:, same], b[mask][:, same]
            margins = None if margin is None else margin / scales[same]
            if share:
                found = of_shares(*part, margins, one_sided)
            elif of is None:
                found = of_means(*part, draws, margins, one_sided)
            else:
                found = of_clusters(*part, of[mask], draws, margins, one_sided)
            for name, column in found.items():
                frame.loc[same, name] = column * scales[same] if name in SCALED else column
    return frame


def level_of(one_sided: bool) -> float:
    """Return the level of the intervals whose ends say what p says at `ALPHA`."""
    return 1 - 2 * ALPHA if one_sided else 1 - ALPHA


def of_shares(
    a: Floats, b: Floats, margins: Floats | None = None, one_sided: bool = False
) -> dict[str, Floats]:
    """Return the columns of m pairs under yes-or-no measures; a and b have shape (n, m)."""
    counts = _counts(a, b)
    low, high = score_interval(
        *counts, exact_critical_value(counts[0] + counts[1], level_of(one_sided))
    )
    found = {**_means(a, b), "low": low, "high": high, "p": mcnemar(*counts[:2], one_sided)}
    return found if margins is None else {**found, "p_equal": equal_shares(*counts, margins)}


def of_means(
    a: Floats, b: Floats, draws: int, margins: Floats | None = None, one_sided: bool = False
) -> dict[str, Floats]:
    """Return the columns of m pairs under other measures, whose values differ by 1 at most."""
    counts = _counts(a, b)
    many = counts[0] + counts[1] >= FEW
    low, high = bounded_interval(*counts, level_of(one_sided))
    if many.any():
        low[many], high[many] = bootstrap((a - b)[:, many], level_of(one_sided))
    found = {**_means(a, b), "low": low, "high": high}
    found["p"] = randomization(a - b, draws, one_sided)
    found["wide"] = (~many).astype(np.float64)
    if margins is not None:
        found["p_equal"] = equal_for_few(*counts, margins)
        for i in np.flatnonzero(many):
            found["p_equal"][i] = equal_means(a[:, i], b[:, i], float(margins[i]))
    return found


def of_clusters(
    a: Floats,
    b: Floats,
    clusters: Clusters,
    draws: int,
    margins: Floats | None = None,
    one_sided: bool = False,
) -> dict[str, Floats]:
    """Return the columns of m pairs whose questions belong together, whatever the measure.

    Signs change by cluster. The interval and the tests of equality are those of a t distribution,
    or those of `of_means` for few differences, with clusters in place of questions.
    """
    found, differences = _means(a, b), a - b
    errors, freedom = standard_error(differences, clusters)
    half = errors * stats.t.isf((1 - level_of(one_sided)) / 2, freedom)
    totals = sums(differences, clusters)
    few = (np.abs(totals) > ROUNDING).sum(axis=0) < FEW
    # A cluster counts by its share of the questions, of as many clusters of equal size.
    number = np.full(len(half), np.floor(effective(clusters)))
    sizes = sums(np.ones((len(a), 1)), clusters)
    shares = [(sizes * (sign * totals > ROUNDING)).mean(axis=0) for sign in (1, -1)]
    first, second = (np.ceil(number * share - ROUNDING) for share in shares)
    counts = first, second, number
    low, high = bounded_interval(*counts, level_of(one_sided))
    found["low"] = np.where(few, low, found["difference"] - half)
    found["high"] = np.where(few, high, found["difference"] + half)
    found["p"] = randomization(totals, draws, one_sided)
    found["wide"] = few.astype(np.float64)
    # As of independent questions with this standard error.
    found["spread"] = errors * np.sqrt(len(a))
    if margins is not None:
        # Without any error few clusters differ, and this p is not used.
        away = np.maximum(margins - np.abs(found["difference"]), 0.0) / np.maximum(errors, ROUNDING)
        equal = stats.t.sf(away, freedom)
        found["p_equal"] = np.where(few, equal_for_few(*counts, margins), equal)
    return found


def _means(a: Floats, b: Floats) -> dict[str, Floats]:
    means = {"mean_a": a.mean(axis=0), "mean_b": b.mean(axis=0), "difference": (a - b).mean(axis=0)}
    return {**means, "spread": (a - b).std(axis=0, ddof=1)} if len(a) > 1 else means


def _counts(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Count the questions of each pair on which a is better, those on which b is, and all."""
    d = a - b
    n = np.full(d.shape[1], float(len(d)))
    return (d > ROUNDING).sum(axis=0) * 1.0, (d < -ROUNDING).sum(axis=0) * 1.0, n
