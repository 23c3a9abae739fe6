"""What difference a number of questions can show, and how many a difference takes."""

import math
from functools import cache

from scipy import stats
from statsmodels.stats.power import TTestPower

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
