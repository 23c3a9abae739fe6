"""What difference a number of questions can show, and how many a difference takes."""

import math
from functools import cache

import numpy as np
from scipy import optimize, stats
from statsmodels.stats.power import TTestPower

from bears.evaluation.clusters import Clusters, Floats, effective, standard_error, usable

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
    """Return the difference in standard deviations. It is slow to solve, and pairs share it."""
    return float(TTestPower().solve_power(nobs=n, alpha=alpha, power=POWER))


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
    while n < 1000 and TTestPower().power(size, n, alpha) < POWER:
        n += 1
    return n


def smallest_loss(differences: Floats, clusters: Clusters | None, alpha: float) -> float:
    """Return the loss that a one-sided test of n questions shows with 80 % power; NaN if none.

    A loss is taken to come on top of the differences that are there, on further questions, and on
    each by as much as the differing ones differ. The power is that of McNemar's exact test, so it
    is a little higher for the randomization test of graded values.

    Args:
        differences: between two systems' values, at most 1, shape (n,), n at least 2.
        clusters: of the questions, if they belong together; usable ones count as n.
        alpha: allowed error, one-sided.
    """
    sizes = np.abs(differences)
    step = float((sizes**2).sum() / sizes.sum()) if sizes.max() > 1e-12 else 1.0
    of = usable(clusters)
    of = np.arange(len(differences)) if of is None else of
    n = round(effective(of))
    variance = float(standard_error(differences[:, None], of)[0][0] / step) ** 2 * n
    differing = np.arange(n + 1)
    least = stats.binom.isf(alpha, differing, 0.5) + 1

    def lacking(share: float) -> float:
        """Return by how much the power falls short if this share of the questions is lost."""
        changed = min(1.0, variance + share)
        seen = stats.binom.sf(least - 1, differing, min(1.0, (changed + share) / 2 / changed))
        return POWER - float(stats.binom.pmf(differing, n, changed) @ seen)

    return step * float(optimize.brentq(lacking, 1e-9, 1.0)) if lacking(1.0) < 0 else math.nan
