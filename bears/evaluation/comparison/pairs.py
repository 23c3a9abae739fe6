"""All pairs of systems under all measures, before any correction, and groups of those alike."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from string import ascii_letters
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy import stats

from bears.evaluation.clusters import Clusters, Floats, effective, standard_error, sums, together
from bears.evaluation.comparison import paired
from bears.evaluation.means import scale_of, weighted_means, yes_or_no
from bears.evaluation.trace_measures import sign_of

SCALED = ("mean_a", "mean_b", "difference", "low", "high", "spread")
ROUNDING = 1e-12
"""Values that differ by no more are the same."""
FEW = 10.0
"""If fewer clusters decide, and less than a third of them, a t interval would not hold."""
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
        spread, p, p_equal, least_p``; NaN if there are too few questions. ``least_p`` is the
        smallest p that so many questions or clusters can have.
    """
    pairs = list(combinations(range(len(names)), 2))
    scales = np.repeat([scale_of(v, m) for m, v in values.items()], len(pairs))
    of = together(clusters)
    shares = np.repeat([yes_or_no(c) and of is None for c in values.values()], len(pairs))
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
    frame["test"] = np.where(shares, "McNemar", "randomisation")
    frame["n"] = defined.sum(axis=0)
    frame["scale"] = scales
    frame[[*SCALED, "p", "p_equal", "least_p"]] = np.nan
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
            units = sum(mask) if of is None else len(np.unique(of[mask]))
            found["least_p"] = np.full(len(same), (1 if one_sided else 2) * 0.5**units)
            for name, column in found.items():
                frame.loc[same, name] = column * scales[same] if name in SCALED else column
    for name in ("mean_a", "mean_b", "difference"):
        frame[name] *= signs
    ends = frame[["low", "high"]].to_numpy()
    frame[["low", "high"]] = np.where(signs[:, None] < 0, -ends[:, ::-1], ends)
    return frame


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
    """Return the columns of m pairs under other measures, whose values differ by 1 at most."""
    found = {**_means(a, b), "p": paired.randomization(a - b, draws, one_sided)}
    return found | _bounds(a - b, 1.0, margins, one_sided)


def of_clusters(
    a: Floats,
    b: Floats,
    clusters: Clusters,
    draws: int,
    margins: Floats | None = None,
    one_sided: bool = False,
) -> dict[str, Floats]:
    """Return the columns of m pairs whose questions belong together, whatever the measure.

    Signs change by cluster. The interval is that of a t distribution, or that of `of_means` for the
    same questions where it is wider: a t interval does not hold if few questions differ much more
    than the others. Where few clusters decide, it is that of `of_means` with the sums of the
    clusters in place of the questions. The tests of equality go with the interval.
    """
    differences = a - b
    found = _means(a, b)
    errors, freedom = standard_error(differences, clusters)
    half = errors * stats.t.isf((1 - level_of(one_sided)) / 2, freedom)
    totals = sums(differences, clusters)
    found["p"] = paired.randomization(totals, draws, one_sided)
    # As of independent questions with this standard error.
    found["spread"] = np.where(np.isinf(errors), np.nan, errors * np.sqrt(len(a)))
    by_question = _bounds(differences, 1.0, margins, one_sided)
    # A cluster that is not there is as large as that of a random question.
    number = effective(clusters)
    by_cluster = _bounds(totals, len(totals) / number, margins, one_sided)
    few = _deciding(totals) < min(FEW, number / 3)
    ends = {
        "low": np.minimum(by_question["low"], np.maximum(found["difference"] - half, -1.0)),
        "high": np.maximum(by_question["high"], np.minimum(found["difference"] + half, 1.0)),
    }
    if margins is not None:
        away = (margins - np.abs(found["difference"])) / np.maximum(errors, ROUNDING)
        ends["p_equal"] = np.maximum(by_question["p_equal"], stats.t.sf(away, freedom))
    return found | {name: np.where(few, by_cluster[name], end) for name, end in ends.items()}


def _bounds(
    differences: Floats, largest: float, margins: Floats | None, one_sided: bool
) -> dict[str, Floats]:
    """Return ``low``, ``high`` and, with margins, ``p_equal`` of each column's mean.

    Args:
        largest: the size of a difference that may be there and is not seen.
    """
    below, above = weighted_means(differences, -largest, largest)
    tail = (1 - level_of(one_sided)) / 2
    # No mean difference is beyond 1, although the sum of a large cluster may be.
    found = {
        "low": np.maximum(np.quantile(below, tail, axis=0), -1.0),
        "high": np.minimum(np.quantile(above, 1 - tail, axis=0), 1.0),
    }
    if margins is not None:
        beyond = np.maximum((below <= -margins).sum(axis=0), (above >= margins).sum(axis=0))
        found["p_equal"] = (beyond + 1) / (len(below) + 1)
    return found


def _deciding(totals: Floats) -> Floats:
    """Return how many clusters of equal differences are worth as much: (Σ|d|)² / Σd²."""
    squares = (totals**2).sum(axis=0)
    whole = np.abs(totals).sum(axis=0) ** 2
    number: Floats = whole / np.maximum(squares, ROUNDING**2)
    return number


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

    Source: Piepho, Journal of Computational and Graphical Statistics 13 (2004). Each letter is a
    maximal set of systems of which no two differ.

    Args:
        ordered: systems, the highest mean first; the first system is in group ``a``.
        different: pairs that differ.
    """
    graph = nx.Graph()
    graph.add_nodes_from(ordered)
    graph.add_edges_from(p for p in combinations(ordered, 2) if frozenset(p) not in different)
    place = {name: i for i, name in enumerate(ordered)}
    groups = sorted(sorted(map(place.__getitem__, group)) for group in nx.find_cliques(graph))
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
