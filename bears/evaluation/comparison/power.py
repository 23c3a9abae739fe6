"""What difference a number of questions can show, and how many a difference takes."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import optimize, special, stats

from bears.evaluation.clusters import Clusters, Floats, effective, standard_error, together

POWER = 0.8
MOST = 1e9
"""More questions than anyone has."""


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
    critical = stats.t.isf(alpha / 2, n - 1)
    return float(special.nctdtrinc(n - 1, 1 - POWER, critical)) / math.sqrt(n)


def questions_for(difference: float, spread: float, alpha: float) -> int | None:
    """Return how many questions show a difference with 80 % power.

    None without a difference or a spread, or if it takes more than `MOST`.
    """
    if not (spread > 1e-12 and difference > 1e-12):
        return None
    size = difference / spread
    normal: float = ((stats.norm.isf(alpha / 2) + stats.norm.isf(1 - POWER)) / size) ** 2
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
