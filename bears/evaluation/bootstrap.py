"""The interval of a mean, by a bootstrap over questions unless all values are yes or no."""

from collections.abc import Iterator

import numpy as np
from scipy import stats

from bears.evaluation.clusters import (
    Clusters,
    Floats,
    share_interval,
    share_intervals,
    usable,
)

SEED = 20_231_122
RESAMPLES = 9_999
FEW = 10
"""How many questions must differ before a bootstrap is reliable."""
AT_ONCE = 4_000_000
"""How many numbers to draw at a time."""


def bootstrap(values: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the expanded percentile interval of the mean of each column.

    The percentiles are those of a t interval over n questions, since plain ones are too narrow for
    few questions (Hesterberg, The American Statistician 2015).

    Args:
        values: shape (n, m), n at least 2.

    Returns:
        Lower and upper ends, each of shape (m,).
    """
    n = len(values)
    means = np.concatenate([weights @ values / n for weights in _resamples(n)])
    tail = tail_of(level, n)
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    return low, high


def tail_of(level: float, n: int) -> float:
    """Return the share of resamples beyond each end of an interval over n questions."""
    t = stats.t.isf((1 - level) / 2, n - 1) * np.sqrt(n / (n - 1))
    return float(stats.norm.sf(t))


def _resamples(n: int) -> Iterator[Floats]:
    """Yield how often each of n questions is drawn, shape (some, n), `RESAMPLES` times in all."""
    rng = np.random.default_rng(SEED)
    for size in sizes(RESAMPLES, n):
        drawn = rng.integers(0, n, (size, n)) + n * np.arange(size)[:, None]
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)


def sizes(total: int, n: int) -> Iterator[int]:
    """Divide ``total`` draws over n questions into batches, and yield their sizes."""
    size = max(1, AT_ONCE // n)
    for start in range(0, total, size):
        yield min(size, total - start)


def scale_of(values: Floats) -> float:
    """Return a divisor after which no two values differ by more than 1; it is at least 1."""
    return max(1.0, float(np.nanmax(values)) - min(0.0, float(np.nanmin(values))))


def yes_or_no(values: Floats) -> bool:
    """Return whether every defined value is 0 or the best one, which is 1 or (a percentage) 100."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, scale_of(values))).all())


def mean_interval(
    values: Floats,
    scale: float = 1.0,
    share: bool | None = None,
    clusters: Clusters | None = None,
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

    With clusters the intervals are those of `bears.evaluation.clusters.share_intervals`. Else
    shares get Wilson's interval, and other columns a bootstrap's. If nearly all values are the
    same, a bootstrap is unreliable, and Wilson's interval is used, which is then too wide.

    Args:
        values: shape (n, m), n at least 1; no two values of a column differ by more than 1.
        share: whether they are shares; None: a column is one if all its values are 0 or 1.
        clusters: of the questions, if they belong together.
    """
    floors = np.minimum(values.min(axis=0), 0.0)
    if (of := usable(clusters)) is not None:
        ends = share_intervals(values - floors, of)
        return [(low + f, high + f) for (low, high), f in zip(ends, floors.tolist(), strict=True)]
    columns = list(zip((values - floors).T, floors.tolist(), strict=True))
    wilson = [share_interval(column) for column, _ in columns]
    ends = [(low + f, high + f) for (low, high), (_, f) in zip(wilson, columns, strict=True)]
    drawn = [at for at, column in enumerate(values.T) if _is_drawn(column, share)]
    if drawn:
        for at, low, high in zip(drawn, *bootstrap(values[:, drawn]), strict=True):
            ends[at] = float(low), float(high)
    return ends


def _is_drawn(column: Floats, share: bool | None) -> bool:
    if yes_or_no(column) if share is None else share:
        return False
    _, counts = np.unique(column, return_counts=True)
    return int(len(column) - counts.max()) >= FEW
