"""What a number of questions can show, and how many it takes to show something."""

import math
from functools import cache

from scipy import stats
from statsmodels.stats.power import TTestPower

POWER = 0.8
ENOUGH = 1e9


def smallest_difference(
    spread: float, n: int, alpha: float, most: float = math.inf
) -> float | None:
    """The difference that n questions show with 80 % power; None where that cannot be said.

    Args:
        spread: standard deviation of the differences between two systems' values.
        n: questions.
        alpha: error that is allowed, two-sided.
        most: the largest difference that there can be; one beyond it is none.
    """
    # Equal differences have a spread of rounding errors, such as 1e-17.
    if n < 3 or not spread > 1e-12:
        return None
    difference = _smallest_size(n, alpha) * spread
    return difference if difference <= most else None


@cache
def _smallest_size(n: int, alpha: float) -> float:
    """The difference in standard deviations; the same for all pairs, and slow to find."""
    return float(TTestPower().solve_power(nobs=n, alpha=alpha, power=POWER))


def questions_for(difference: float, spread: float, alpha: float) -> int | None:
    """How many questions show a difference with 80 % power; None where there is no spread."""
    if not spread > 1e-12:
        return None
    size = difference / spread
    # A first guess by the normal distribution; where it is vast the t distribution is the same.
    normal: float = ((stats.norm.isf(alpha / 2) + stats.norm.isf(1 - POWER)) / size) ** 2
    if normal > ENOUGH:
        return math.ceil(normal)
    n: int = max(2, math.ceil(normal))
    while TTestPower().power(size, n, alpha) < POWER:
        n += 1
    return n
