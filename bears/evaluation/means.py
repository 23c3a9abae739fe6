"""The interval of a mean of bounded values; it holds for any number and shape of them."""

from collections.abc import Iterator

import numpy as np

from bears.evaluation.clusters import Clusters, Floats, share_interval, share_intervals, together
from bears.evaluation.trace_measures import FEWER_IS_BETTER

SEED = 20_231_122
RESAMPLES = 9_999
AT_ONCE = 4_000_000
"""How many numbers to draw at a time."""


def weighted_means(values: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Return random means, whose quantiles are the ends of an interval of the true mean.

    The values get random weights, as in a Bayesian bootstrap, together with one value more, at the
    end of the scale: a value that a few questions do not show may still be there. An end holds at
    its level whatever the values are, which no bootstrap does if few of them decide. For values of
    0 and 1 it is that of Clopper and Pearson.

    Source: Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable (2005); Learned-Miller and Thomas, arXiv 1905.06208.

    Args:
        values: shape (n, m), n at least 1.
        low, high: the ends of their scale.

    Returns:
        Means with one ``low`` more, and means with one ``high`` more, each of shape
        (`RESAMPLES`, m). Quantiles of the first are lower ends, and of the second upper ends.
    """
    n = len(values)
    rng = np.random.default_rng(SEED)
    parts = []
    for size in sizes(RESAMPLES, n):
        weights = rng.standard_exponential((size, n + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        parts.append((weights[:, :n] @ values, weights[:, n:]))
    means, rests = (np.concatenate(each) for each in zip(*parts, strict=True))
    return means + rests * low, means + rests * high


def bounded_interval(
    values: Floats, low: float, high: float, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Return the interval of the mean of each column of `weighted_means`, each of shape (m,)."""
    below, above = weighted_means(values, low, high)
    tail = (1 - level) / 2
    return np.quantile(below, tail, axis=0), np.quantile(above, 1 - tail, axis=0)


def sizes(total: int, n: int) -> Iterator[int]:
    """Divide ``total`` draws over n questions into batches, and yield their sizes."""
    size = max(1, AT_ONCE // n)
    for start in range(0, total, size):
        yield min(size, total - start)


def scale_of(values: Floats, measure: str = "") -> float:
    """Return a divisor after which no two values differ by more than 1.

    It is at least 1, unless the measure is an amount, such as US dollars.
    """
    scale = float(np.nanmax(values)) - min(0.0, float(np.nanmin(values)))
    return scale or 1.0 if measure in FEWER_IS_BETTER else max(1.0, scale)


def yes_or_no(values: Floats) -> bool:
    """Return whether every defined value is 0 or the best one, which is 1 or (a percentage) 100."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, scale_of(values))).all())


def mean_interval(
    values: Floats, scale: float = 1.0, share: bool | None = None, clusters: Clusters | None = None
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of one column, ignoring NaN; see `mean_intervals`."""
    known = ~np.isnan(values)
    of = None if clusters is None else clusters[known]
    ((low, high),) = mean_intervals((values[known] / scale)[:, None], share, of)
    return low * scale, high * scale


def mean_intervals(
    values: Floats, share: bool | None = None, clusters: Clusters | None = None
) -> list[tuple[float, float]]:
    """Return the 95 % interval of the mean of each column.

    Shares get Wilson's interval, and other columns that of `bounded_interval`. With clusters it is
    that of `bears.evaluation.clusters.share_intervals`, or the wider one.

    Args:
        values: shape (n, m), n at least 1; no two values of a column differ by more than 1.
        share: whether they are shares; None: a column is one if all its values are 0 or 1.
        clusters: of the questions, if they belong together.
    """
    floors = np.minimum(values.min(axis=0), 0.0)
    of = together(clusters)
    placed = values - floors
    if of is None:
        ends = [share_interval(column) for column in placed.T]
    else:
        ends = share_intervals(placed, of)
    graded = [
        at
        for at, column in enumerate(values.T)
        if not (yes_or_no(column) if share is None else share)
    ]
    if graded:
        bounds = zip(graded, *bounded_interval(placed[:, graded], 0.0, 1.0), strict=True)
        for at, low, high in bounds:
            if of is not None:
                low, high = min(low, ends[at][0]), max(high, ends[at][1])
            ends[at] = float(low), float(high)
    return [(low + f, high + f) for (low, high), f in zip(ends, floors.tolist(), strict=True)]
