"""All pairs of systems under all measures: differences, intervals and p, before any correction."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bears.evaluation.bootstrap import FEW, Floats, bootstrap, scale_of, yes_or_no
from bears.evaluation.comparison.equivalence import equal_for_few, equal_means, equal_shares
from bears.evaluation.comparison.paired import (
    bounded_interval,
    exact_critical_value,
    mcnemar,
    randomisation,
    score_interval,
)

Booleans = NDArray[np.bool_]
Counts = tuple[Floats, Floats, Floats]
"""Of each pair: questions on which the first is better, on which the other is, and all."""

SCALED = ("mean_a", "mean_b", "difference", "low", "high", "spread")


def pairs_of(
    values: Mapping[str, Floats], names: Sequence[str], draws: int, within: float | None = None
) -> pd.DataFrame:
    """Every pair of systems under every measure.

    Args:
        values: measure to shape (n, s), a column for each of ``names``; NaN where undefined. A pair
            is compared on the questions for which both are defined.
        draws: of the randomisation test.
        within: the difference that matters to nobody, if it is asked for.

    Returns:
        A row for each: ``measure, a, b, test, n, scale, mean_a, mean_b, difference, low, high,
        spread, p, p_equal``; NaN where it is not known, for want of questions.
    """
    pairs = list(combinations(range(len(names)), 2))
    scales = np.repeat([scale_of(column) for column in values.values()], len(pairs))
    shares = np.repeat([yes_or_no(column) for column in values.values()], len(pairs))
    a, b = (np.hstack([v[:, [p[i] for p in pairs]] for v in values.values()]) for i in (0, 1))
    defined = ~(np.isnan(a) | np.isnan(b))
    frame = pd.DataFrame(
        [(measure, names[i], names[j]) for measure in values for i, j in pairs],
        columns=["measure", "a", "b"],
    )
    frame["test"] = np.where(shares, "McNemar", "randomisation")
    frame["n"] = defined.sum(axis=0)
    frame["scale"] = scales
    margins = None if within is None else within / scales
    numbers = _numbers(a / scales, b / scales, defined, shares, draws, margins)
    for name, column in numbers.items():
        frame[name] = column * scales if name in SCALED else column
    return frame


def _numbers(
    a: Floats,
    b: Floats,
    defined: Booleans,
    shares: Booleans,
    draws: int,
    margins: Floats | None,
) -> dict[str, Floats]:
    """The columns of m pairs, of values between -1 and 1 of shape (n, m).

    Those that are alike in kind, and defined for the same questions, are drawn together: mostly
    that is all.
    """
    numbers: dict[str, Floats] = {
        name: np.full(a.shape[1], np.nan) for name in (*SCALED, "p", "p_equal")
    }
    kinds, kind_of = np.unique(np.vstack([shares, defined]), axis=1, return_inverse=True)
    for i, kind in enumerate(kinds.T):
        same, mask = np.flatnonzero(kind_of.ravel() == i), kind[1:].astype(bool)
        if not mask.any():
            continue
        part = a[mask][:, same], b[mask][:, same]
        found = of_shares(*part) if kind[0] else of_means(*part, draws)
        if margins is not None:
            equal = _equal_shares if kind[0] else _equal_means
            found["p_equal"] = equal(*part, margins[same])
        for name, column in found.items():
            numbers[name][same] = column
    return numbers


def of_shares(a: Floats, b: Floats) -> dict[str, Floats]:
    """The columns of m pairs of measures that say yes or no; a and b of shape (n, m)."""
    counts = _counts(a, b)
    ends = score_interval(*counts, exact_critical_value(counts[0] + counts[1]))
    return {**_means(a, b), "low": ends[0], "high": ends[1], "p": mcnemar(*counts[:2])}


def of_means(a: Floats, b: Floats, draws: int) -> dict[str, Floats]:
    """The same of other measures, whose values differ by no more than 1."""
    counts = _counts(a, b)
    low, high = bounded_interval(*counts)
    many = _many(counts)
    if many.any():
        low[many], high[many] = bootstrap((a - b)[:, many])
    return {**_means(a, b), "low": low, "high": high, "p": randomisation(a - b, draws)}


def _means(a: Floats, b: Floats) -> dict[str, Floats]:
    means = {"mean_a": a.mean(axis=0), "mean_b": b.mean(axis=0), "difference": (a - b).mean(axis=0)}
    return {**means, "spread": (a - b).std(axis=0, ddof=1)} if len(a) > 1 else means


def _counts(a: Floats, b: Floats) -> Counts:
    d = a - b
    # Values that differ by rounding alone are the same.
    n = np.full(d.shape[1], float(len(d)))
    return (d > 1e-12).sum(axis=0) * 1.0, (d < -1e-12).sum(axis=0) * 1.0, n


def _many(counts: Counts) -> Booleans:
    many: Booleans = counts[0] + counts[1] >= FEW
    return many


def _equal_shares(a: Floats, b: Floats, margins: Floats) -> Floats:
    return equal_shares(*_counts(a, b), margins)


def _equal_means(a: Floats, b: Floats, margins: Floats) -> Floats:
    counts = _counts(a, b)
    p = equal_for_few(*counts, margins)
    for i in np.flatnonzero(_many(counts)):
        p[i] = equal_means(a[:, i], b[:, i], float(margins[i]))
    return p
