"""The interval of a mean."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np

from bears.evaluation.clusters import (
    Clusters,
    Floats,
    share_interval,
    standard_error,
    t_quantile,
    together,
)
from bears.evaluation.trace_measures import FEWER_IS_BETTER, SHARES

SEED = 20_231_122
RESAMPLES = 9_999
AT_ONCE = 4_000_000
"""How many numbers to draw at a time."""


def random_means(values: Floats, low: float, high: float) -> Floats:
    """Return random means, whose quantiles are the ends of the interval of the true mean.

    The values get random weights, as in a Bayesian bootstrap, together with half a value at each
    end of the scale: a value that a few questions do not show may still be there. For values of 0
    and 1 the interval is that of Jeffreys.

    Args:
        values: shape (n, m), n at least 1.
        low, high: the ends of their scale.

    Returns:
        Shape (2 * `RESAMPLES`, m). The ends are drawn both ways round, so that the means of A - B
        and those of B - A are the same but for their sign.
    """
    ends = np.array([[low, high], [high, low]])
    return np.concatenate(
        [
            weights[:, :-2] @ values + weights[:, -2:] @ each[:, None]
            for weights in _weights(len(values), (0.5, 0.5))
            for each in ends
        ]
    )


def ends_of(means: Floats, values: Floats, tail: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals, each shape (m,), from `random_means` of these values.

    An interval has its mean, also where all values are at one end of the scale.

    Args:
        tail: how often the true mean may be beyond either end.
    """
    low, high = np.quantile(means, (tail, 1 - tail), axis=0)
    middle = values.mean(axis=0)
    return np.minimum(low, middle), np.maximum(high, middle)


def worst_case(values: Floats, low: float, tail: float) -> Floats:
    """Return lower ends that hold at their level whatever the values are, shape (m,).

    They are wider than those of `random_means`: there is one value more, at the low end of the
    scale. For values of 0 and 1 they are those of Clopper and Pearson.

    Source: Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a
    nonnegative variable (2005); Learned-Miller and Thomas, arXiv 1905.06208.

    Args:
        values: shape (n, m), n at least 1.
        low: the lowest possible value.
        tail: how often the true mean may be below an end.
    """
    parts = [each[:, :-1] @ values + each[:, -1:] * low for each in _weights(len(values), (1.0,))]
    return np.asarray(np.quantile(np.concatenate(parts), tail, axis=0), np.float64)


def _weights(n: int, more: Sequence[float]) -> Iterable[Floats]:
    """Return random weights of n values, and of parts of a value of these sizes; rows sum to 1."""
    return _few_weights(n, more) if RESAMPLES * n <= AT_ONCE else _drawn_weights(n, more)


@lru_cache(maxsize=2)
def _few_weights(n: int, more: Sequence[float]) -> Sequence[Floats]:
    """Return weights that fit in memory, which most intervals of a comparison share."""
    return [*_drawn_weights(n, more)]


def _drawn_weights(n: int, more: Sequence[float]) -> Iterator[Floats]:
    rng = np.random.default_rng(SEED)
    for size in sizes(RESAMPLES, n):
        own = rng.standard_exponential((size, n))
        others = [rng.standard_gamma(part, (size, 1)) for part in more]
        weights = np.hstack([own, *others])
        yield weights / weights.sum(axis=1, keepdims=True)


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


def amount(measure: str) -> bool:
    """Return whether the values of a measure have no upper end, such as seconds."""
    return measure in FEWER_IS_BETTER - SHARES


def mean_interval(
    values: Floats,
    measure: str = "",
    clusters: Clusters | None = None,
    among: Floats | None = None,
) -> tuple[float, float]:
    """Return the 95 % interval of the mean of one column, ignoring NaN; see `mean_intervals`."""
    known = ~np.isnan(values)
    of = None if clusters is None else clusters[known]
    ((low, high),) = mean_intervals(values[known][:, None], measure, of, among)
    return low, high


def mean_intervals(
    values: Floats,
    measure: str = "",
    clusters: Clusters | None = None,
    among: Floats | None = None,
) -> list[tuple[float, float]]:
    """Return the 95 % interval of the mean of each column.

    Shares get Wilson's interval, amounts that of a t distribution, and other values the quantiles
    of `random_means`. With clusters it is that of `bears.evaluation.clusters.share_interval`, for
    other values than shares the wider one of the two.

    Args:
        values: shape (n, m), without NaN, n at least 1.
        measure: its name, which says whether it is an amount.
        clusters: of the questions, if they belong together.
        among: the values of all systems that are compared, which decide what kind of values these
            are, and their scale; None: ``values``.

    Returns:
        Both ends of each column; NaN for an amount of one question, or one cluster.
    """
    of, among = together(clusters), values if among is None else among
    floor = min(0.0, float(np.nanmin(among)))
    if amount(measure):
        means, half = values.mean(axis=0), t_half_width(values, of)
        half = np.where(np.isinf(half), np.nan, half)
        ends = np.maximum(means - half, floor), means + half
        return list(zip(*(end.tolist() for end in ends), strict=True))
    scale = scale_of(among)
    placed = (values - floor) / scale
    found = [share_interval(column, of) for column in placed.T]
    if not yes_or_no(among):
        drawn = zip(*ends_of(random_means(placed, 0.0, 1.0), placed, 0.025), strict=True)
        if of is None:
            found = list(drawn)
        else:
            both = zip(found, drawn, strict=True)
            found = [(min(low, least), max(high, most)) for (low, high), (least, most) in both]
    return [(float(low * scale + floor), float(high * scale + floor)) for low, high in found]


def t_half_width(values: Floats, clusters: Clusters | None, level: float = 0.95) -> Floats:
    """Return half the width of Student's interval of the mean of each column, shape (m,).

    It is infinite if there is one question, or one cluster.
    """
    each = np.arange(len(values)) if clusters is None else clusters
    errors, freedom = standard_error(values, each)
    half: Floats = errors * t_quantile((1 - level) / 2, freedom)
    return half
