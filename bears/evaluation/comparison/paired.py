"""Two systems on the same questions: their difference, its p, and what so many questions can show.

Every function treats m pairs at once, since all pairs share the random draws of questions.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special, stats

from bears.evaluation.clusters import Clusters, Floats, effective, standard_error, together
from bears.evaluation.means import RESAMPLES, SEED, sizes

POWER = 0.8
MOST = 1e9
"""More questions than anyone has."""
ALPHA = 0.05
OFTEN = 100
EXACT = 13
"""Up to this many questions, try every change of signs instead of drawing some."""
MOST_DRAWS = 200_000


def smallest_difference(
    spread: float, n: int, alpha: float, most: float = math.inf
) -> float | None:
    """Return the difference that n questions show with 80 % power; None if it is undefined.

    Args:
        spread: standard deviation of the differences between two systems' values.
        n: number of questions.
        alpha: allowed error, two-sided.
        most: the largest possible difference; None is returned if a larger one were needed.
    """
    # Equal differences have a spread of rounding errors, such as 1e-17.
    if n < 3 or not spread > 1e-12:
        return None
    difference = _smallest_size(n, alpha) * spread
    return difference if difference <= most else None


@cache
def _smallest_size(n: int, alpha: float) -> float:
    """Return the difference in standard deviations.

    The chance that the difference is significant in the wrong direction, below 0.0001, is left out.
    """
    # The functions of `scipy.stats` check their arguments for longer than they compute.
    critical = -special.stdtrit(n - 1, alpha / 2)
    return float(special.nctdtrinc(n - 1, 1 - POWER, critical)) / math.sqrt(n)


def questions_for(difference: float, spread: float, alpha: float) -> int | None:
    """Return how many questions show a difference with 80 % power.

    None without a difference or a spread, or if it takes more than `MOST`.
    """
    if not (spread > 1e-12 and difference > 1e-12):
        return None
    size = difference / spread
    normal: float = ((special.ndtri(alpha / 2) + special.ndtri(1 - POWER)) / size) ** 2
    n: int = max(2, math.ceil(normal))
    if n > MOST:
        return None
    while n < 1000 and size < _smallest_size(n, alpha):
        n += 1
    return n


def smallest_loss(differences: Floats, clusters: Clusters | None, alpha: float) -> float:
    """Return the loss that a one-sided test of these questions shows with 80 % power; NaN if none.

    A loss is taken to be whole: some questions fall from the best value to the worst one, on top of
    the differences that are there. A loss that comes in many small parts is shown at least as well.

    Args:
        differences: between two systems' values, at most 1, shape (n,), n at least 2.
        clusters: of the questions, if they belong together.
        alpha: allowed error, one-sided.
    """
    noise = float((differences**2).mean())
    of = together(clusters)
    if of is None:
        return _shown_by_mcnemar(len(differences), noise, alpha)
    # Signs change by cluster, so few clusters have few possible p.
    ways = 2.0 ** min(len(np.unique(of)), 50)
    reached = math.floor(alpha * ways) / ways
    if reached == 0:
        return math.nan
    (error,), freedom = standard_error(differences[:, None], of)
    # Lost questions are as alike within a cluster as the differences that are there.
    alike = noise / error**2 if error > 1e-12 else 0.0
    n = min(max(alike, effective(of)), float(len(differences)))
    # Changes of sign have a little less power than t if clusters are few.
    distance = float(special.nctdtrinc(freedom, 0.75 * (1 - POWER), stats.t.isf(reached, freedom)))
    shown = _root(lambda share: distance * math.sqrt(error**2 + share * (1 - share) / n) - share)
    return float(np.maximum(shown, _shown_by_mcnemar(round(n), 0.0, alpha)))


def _shown_by_mcnemar(n: int, noise: float, alpha: float) -> float:
    """Return the share of lost questions that McNemar's exact test shows.

    The differences that are there count as whole ones with the same sum of squares.
    """
    differing = np.arange(n + 1)
    least = stats.binom.isf(alpha, differing, 0.5) + 1

    def lacking(share: float) -> float:
        changed = min(1.0, noise + share)
        seen = stats.binom.sf(least - 1, differing, min(1.0, (changed + share) / 2 / changed))
        return POWER - float(stats.binom.pmf(differing, n, changed) @ seen)

    return _root(lacking)


def _root(lacking: Callable[[float], float]) -> float:
    """Return the share at which nothing is lacking any more; NaN if something always is."""
    return float(optimize.brentq(lacking, 1e-9, 1.0)) if lacking(1.0) < 0 else math.nan


def unseen(n: int) -> float:
    """Return the share of questions that may differ although none of ``n`` does (rule of three)."""
    return min(3 / n, 1.0)


def draws_for(tests: int) -> int:
    """Return how many changes of sign to draw, so that p can pass a correction over ``tests``."""
    return min(max(RESAMPLES, 100 * tests - 1), MOST_DRAWS)


def holm(p: Any) -> Floats:
    """Correct p values by Holm's method; NaN stays NaN and is not counted."""
    corrected = np.array(p, float)
    known = ~np.isnan(corrected)
    if known.sum() > 1:
        # It takes longer to import than all else that a comparison of two systems needs.
        from statsmodels.stats.multitest import multipletests

        corrected[known] = multipletests(corrected[known], method="holm")[1]
    return corrected


def randomization(differences: Floats, draws: int, one_sided: bool = False) -> Floats:
    """Return p of each column's mean under random changes of sign.

    Source: Fisher's paired randomization test. The observation counts as one of the draws (the
    +1), so p is never 0. For few questions, all changes of sign are tried.

    Args:
        differences: shape (n, m).
        draws: changes of sign; p is at least 1 / (draws + 1). A column that is clearly not rare
            after `RESAMPLES` draws takes no more.
        one_sided: p is that the mean is below 0, not that it differs from 0.

    Returns:
        p, shape (m,).
    """
    n, m = differences.shape
    size = np.negative if one_sided else np.abs
    observed = size(differences.sum(axis=0))
    observed -= 1e-12 * (1 + np.abs(observed))
    found = np.zeros(m, np.int64)
    if n <= EXACT:
        _count(found, differences, size, observed, [np.arange(2**n)[:, None] >> np.arange(n) & 1])
        share: Floats = found / 2**n
        return share
    first = min(draws, RESAMPLES)
    _count(found, differences, size, observed, _drawn(n, first, SEED + 1))
    done = np.full(m, first)
    # A frequent result is known well enough after the first draws.
    if (rare := found < OFTEN).any() and draws > first:
        more = found[rare]
        drawn = _drawn(n, draws - first, SEED + 2)
        _count(more, differences[:, rare], size, observed[rare], drawn)
        found[rare], done[rare] = more, draws
    p: Floats = (found + 1) / (done + 1)
    return p


def _count(
    found: NDArray[np.int64],
    differences: Floats,
    size: Callable[[Floats], Floats],
    observed: Floats,
    changes: Iterable[NDArray[Any]],
) -> None:
    for batch in changes:
        signs = 1.0 - 2.0 * batch.astype(np.float64)
        found += (size(signs @ differences) >= observed).sum(axis=0)


def _drawn(n: int, draws: int, seed: int) -> Iterator[NDArray[Any]]:
    rng = np.random.default_rng(seed)
    for size in sizes(draws, n):
        yield rng.integers(0, 2, (size, n), np.int8)


def mcnemar(only_a: Floats, only_b: Floats, one_sided: bool = False) -> Floats:
    """Return the exact p of McNemar's test.

    Args:
        only_a, only_b: questions that only one system answers, shape (m,).
        one_sided: p is that A answers fewer, not that it differs from B.
    """
    fewer = only_a if one_sided else np.minimum(only_a, only_b)
    p: Floats = (1 if one_sided else 2) * stats.binom.cdf(fewer, only_a + only_b, 0.5)
    return np.minimum(p, 1.0)


def score_statistic(only_a: Floats, only_b: Floats, n: Floats, difference: Floats) -> Floats:
    """Return Tango's statistic: the standard errors from ``difference`` to the observed one.

    Source: Tango, Statistics in Medicine 17 (1998). All arguments have shape (m,).
    """
    linear = (2 * n - only_a + only_b) * difference - only_a - only_b
    constant = -only_b * difference * (1 - difference)
    share = (np.sqrt(np.maximum(linear**2 - 8 * n * constant, 0)) - linear) / (4 * n)
    variance = n * (2 * share + difference * (1 - difference))
    # The variance is 0 only at the ends, where the observation is the only possible one.
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = (only_a - only_b - n * difference) / np.sqrt(np.maximum(variance, 0))
    return np.nan_to_num(ratio, nan=0.0)


def exact_critical_value(differing: Floats, level: float = 0.95) -> Floats:
    """Return the score statistic beyond which `mcnemar` has a p of at most 1 - ``level``.

    Between ``m`` differing questions the statistic at a difference of 0 takes the values
    ``(only_a - only_b) / sqrt(m)``. The critical value lies halfway between the last value that the
    exact test accepts and the first that it rejects, and is never below that of the normal
    distribution.

    Args:
        differing: questions that only one system answers, shape (m,).
    """
    tail = (1 - level) / 2
    accepted = stats.binom.ppf(tail, differing, 0.5)
    halfway = (differing - 2 * accepted + 1) / np.sqrt(np.maximum(differing, 1))
    critical: Floats = np.maximum(halfway, stats.norm.isf(tail))
    return critical


def score_interval(
    only_a: Floats, only_b: Floats, n: Floats, z: Floats | float
) -> tuple[Floats, Floats]:
    """Return Tango's interval of the difference between two shares of the same n questions.

    Args:
        only_a, only_b, n: as in `score_statistic`.
        z: the critical value. With that of `exact_critical_value` the interval excludes 0 if and
            only if `mcnemar` has a p of at most 0.05.
    """

    def end(sign: float) -> Floats:
        near = (only_a - only_b) / n
        far = np.full_like(near, sign)
        for _ in range(60):
            middle = (near + far) / 2
            out = sign * score_statistic(only_a, only_b, n, middle) < -z
            near, far = np.where(out, near, middle), np.where(out, middle, far)
        # Halving an interval that ends at 0 leaves 1e-18.
        return np.round((near + far) / 2, 15)

    return end(-1.0), end(1.0)


def equal_shares(only_a: Floats, only_b: Floats, n: Floats, margin: Floats) -> Floats:
    """Return p of two one-sided score tests that two shares differ by ``margin`` or more.

    Source: Tango, Statistics in Medicine 17 (1998). Arguments and result have shape (m,).
    """
    d = np.minimum(margin, 1.0)
    above = stats.norm.sf(score_statistic(only_a, only_b, n, -d))
    below = stats.norm.cdf(score_statistic(only_a, only_b, n, d))
    p: Floats = np.maximum(above, below)
    return p
