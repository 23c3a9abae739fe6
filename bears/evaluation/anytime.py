"""Decide which of two systems is better; one may look after every label.

Items are drawn one by one, without replacement, with known probabilities. With S the sum of the
differences so far, R(h) the items that are left in stratum h and q(h) the probability to draw from
it, (S + difference · R(h) / q(h)) / N has the mean difference of all N items as its expectation,
whatever came before. That makes a bet on it a martingale if the systems are equal.

Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by betting (JRSS B,
2023), and Confidence sequences for sampling without replacement (NeurIPS 2020).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from bears.evaluation.clusters import Floats

CONVINCING = 20.0
"""The e-value at which at most one true hypothesis in twenty is ever rejected."""
BETS = np.linspace(0.02, 1, 25)[:, None]
"""Shares of the largest bet that cannot lose everything; their mean is a martingale too."""
EVEN = 0.2
"""The share of draws that ignores what is known of the strata; it bounds the weights."""
PRIOR = 2.0
"""How many labels the guess about a stratum counts as."""
NULLS = np.linspace(-1, 1, 401)


@dataclass(frozen=True, slots=True)
class Draw:
    """An item that was drawn.

    Args:
        item: its place among all.
        weight: R(h) / q(h) of its stratum.
        largest: the largest weight that any item could have had.
    """

    item: int
    weight: float
    largest: float


def drawn(
    strata: Sequence[int],
    guesses: Sequence[float],
    before: Sequence[int],
    differences: Sequence[float],
    count: int,
    random: Random,
) -> list[Draw]:
    """Draw items, more of them from strata that are large or whose differences are large.

    Args:
        strata: of each item, from 0.
        guesses: the mean squared difference in each stratum, before any label.
        before: items that were drawn earlier.
        differences: of the first of these, between -1 and 1; others have no label yet.
        count: how many to draw at most.
        random: draws.
    """
    left: list[list[int]] = [[] for _ in guesses]
    for item in sorted(set(range(len(strata))) - set(before)):
        left[strata[item]].append(item)
    squares, counts = [PRIOR * guess for guess in guesses], [PRIOR] * len(guesses)
    for item, difference in zip(before, differences, strict=False):
        squares[strata[item]] += difference**2
        counts[strata[item]] += 1
    found = []
    for _ in range(min(count, sum(map(len, left)))):
        sizes = np.array([len(items) for items in left], float)
        wanted = sizes * np.sqrt(np.array(squares) / np.array(counts))
        chances = (1 - EVEN) * wanted / wanted.sum() + EVEN * sizes / sizes.sum()
        stratum = random.choices(range(len(left)), chances.tolist())[0]
        item = left[stratum].pop(random.randrange(len(left[stratum])))
        weights = sizes[sizes > 0] / chances[sizes > 0]
        weight = float(sizes[stratum] / chances[stratum])
        found.append(Draw(item, weight, float(weights.max())))
    return found


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the labels so far say of the mean difference of two systems over all items.

    Args:
        e: the e-value against equal systems.
        difference: the estimate, the mean of the unbiased ones.
        low, high: of the 95 % confidence sequence.
    """

    e: float
    difference: float
    low: float
    high: float


def evidence(
    differences: Sequence[float], weights: Sequence[float], largest: Sequence[float], size: int
) -> Evidence:
    """Weigh the labels so far.

    What was rejected once stays rejected: one may have looked then.

    Args:
        differences: between -1 and 1, in the order of the draws.
        weights, largest: of the draws.
        size: how many items there are.
    """
    d, w, bound = (np.array(each, float) for each in (differences, weights, largest))
    sums = np.concatenate([[0.0], d.cumsum()])[: len(d)]
    estimates, bounds = (sums + d * w) / size, (np.abs(sums) + bound) / size
    values = np.array([highest_e_value(estimates, bounds, null) for null in NULLS])
    # What is not labeled yet can change the mean only so much.
    seen, rest = float(d.sum()), size - len(d)
    possible = (NULLS * size >= seen - rest - 1e-9) & (NULLS * size <= seen + rest + 1e-9)
    kept = NULLS[(values < CONVINCING) & possible]
    middle = (float(estimates.mean()) if rest else seen / size) if len(d) else 0.0
    low, high = (float(kept[0]), float(kept[-1])) if len(kept) and rest else (middle, middle)
    return Evidence(highest_e_value(estimates, bounds, 0.0), middle, low, high)


def highest_e_value(estimates: Floats, bounds: Floats, null: float) -> float:
    """Return the highest of the e-values after each label against a mean of ``null``.

    It is the mean of bets on a higher and on a lower mean, of many sizes.

    Args:
        estimates: unbiased, shape (n,).
        bounds: of their absolute values, known before each draw.
    """
    if not len(estimates):
        return 1.0
    with np.errstate(divide="ignore", over="ignore"):
        steps = BETS * ((estimates - null) / (bounds + abs(null)))
        sides = [np.exp(np.log1p(sign * steps).cumsum(axis=1)).mean(axis=0) for sign in (1, -1)]
    return float(min(np.max(sum(sides)) / 2, 1e12))
