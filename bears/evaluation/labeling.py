"""Estimate a measure from people's labels of some items and a model's values of all.

An item is an answer, or a pair: a question and a document, a sentence and a citation, a nugget and
an answer. A measure, or the difference of two systems in it, is the sum of weight times label over
all items, divided by the number of questions.

Items are drawn one by one, without replacement, with known probabilities. With S the sum over the
items so far, p the probability with which the next one is drawn, and z its weight times its label,
S + z / p has the sum over all items as its expectation, whatever came before (Des Raj, JASA 51,
1956). The same holds for the model's values, whose sum is known, so that they may be subtracted
with any share that the earlier draws suggest.

- `estimated` averages these estimates, each by the precision that its draw has: an interval for a
  number of labels that was fixed beforehand.
- `evidence` bets on them, which makes a martingale if the systems are equal: one may look after
  every label. Source: Waudby-Smith and Ramdas, Estimating means of bounded random variables by
  betting (JRSS B, 2023), and Confidence sequences for sampling without replacement (NeurIPS 2020).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from bears.evaluation.clusters import Floats, t_quantile
from bears.evaluation.metric import Integers
from bears.evaluation.prediction_powered import Estimate

CONVINCING = 20.0
"""The e-value at which at most one true hypothesis in twenty is ever rejected."""
BETS = np.linspace(0.02, 1, 25)[:, None]
"""Shares of the largest bet that cannot lose everything; their mean is a martingale too."""
EVEN = 0.2
"""The share of draws that ignores what is known of the strata; it bounds the weights."""
PRIOR = 2.0
"""How many labels the guess about a stratum counts as."""
HALF = 10
"""How many draws the guess counts as that half of the model's values should be subtracted."""
CROSSED = 100
"""Below as many labels, the share to subtract from one half of them comes from the other half."""
NULLS = np.linspace(-1, 1, 401)
"""Differences to test, as shares of the largest one that labels can make."""
TINY, SLACK = 1e-300, 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of a measure.

    Args:
        weights: shape (n,), of each label; not 0.
        judge: shape (n,), the model's values, on the scale of labels; 0 leaves the model out.
        strata: shape (n,), from 0; within one, labels differ from the model's values alike.
        guesses: that squared difference in each stratum, before any label; above 0.
        questions: shape (n,), from 0, the question of each item.
        of: the number of questions, those without an item included.
        worst, best: the ends of the scale, around 0.
    """

    weights: Floats
    judge: Floats
    strata: Integers
    guesses: Sequence[float]
    questions: Integers
    of: int
    worst: float = 0
    best: float = 1


@dataclass(frozen=True, slots=True)
class Draw:
    """An item that was drawn.

    Args:
        item: its place among all.
        weight: one by the probability of the draw.
        largest: the largest weight, times the item's own, that any item could have had.
    """

    item: int
    weight: float
    largest: float


def drawn(
    items: Items, before: Sequence[int], labels: Sequence[float], count: int, random: Random
) -> list[Draw]:
    """Draw items, more of those whose weight is large and on which the model may be wrong.

    Args:
        before: items that were drawn earlier.
        labels: of the first of these; others have no label yet.
        count: how many to draw at most.
        random: draws.
    """
    sizes = np.abs(items.weights).tolist()
    left: list[list[int]] = [[] for _ in items.guesses]
    for item in sorted(set(range(len(sizes))) - set(before)):
        left[items.strata[item]].append(item)
    squares = [PRIOR * guess for guess in items.guesses]
    counts = [PRIOR] * len(squares)
    for item, label in zip(before, labels, strict=False):
        squares[items.strata[item]] += (label - items.judge[item]) ** 2
        counts[items.strata[item]] += 1
    totals = np.array([sum(sizes[item] for item in own) for own in left], float)
    found = []
    for _ in range(min(count, sum(map(len, left)))):
        wanted = totals * np.sqrt(np.array(squares) / np.array(counts))
        chances = (1 - EVEN) * wanted / wanted.sum() + EVEN * totals / totals.sum()
        stratum = random.choices(range(len(left)), chances.tolist())[0]
        item = _picked(left[stratum], sizes, random)
        weights = totals[totals > 0] / chances[totals > 0]
        weight = float(totals[stratum] / chances[stratum]) / sizes[item]
        found.append(Draw(item, weight, float(weights.max())))
        totals[stratum] = totals[stratum] - sizes[item] if left[stratum] else 0.0
    return found


def _picked(own: list[int], sizes: Sequence[float], random: Random) -> int:
    """Remove an item of a stratum and return it, a larger one more often."""
    of_each = [sizes[item] for item in own]
    if min(of_each) == max(of_each):
        return own.pop(random.randrange(len(own)))
    return own.pop(random.choices(range(len(own)), of_each)[0])


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The estimates that draws give, one each, of the sum over all items.

    Args:
        label, judge: shape (draws,), of the sums of people's labels and of the model's values.
        whole: the sum of the model's values.
        precision: shape (draws,), of each estimate, up to a factor.
    """

    label: Floats
    judge: Floats
    whole: float
    precision: Floats

    def corrected(self, share: Floats | float) -> Floats:
        """Return the estimates with a share of the model's error subtracted."""
        return np.asarray(self.label - share * (self.judge - self.whole))

    def shares(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the best share after each draw, from the chosen draws up to it; shape (draws,)."""
        precision = np.where(chosen, self.precision, 0.0)
        off = self.judge - self.whole
        total, both = precision.cumsum(), (precision * self.label * off).cumsum()
        middle = (precision * self.label).cumsum() / np.maximum(total, TINY)
        squares = (precision * off**2).cumsum()
        covariance = both - middle * (precision * off).cumsum()
        usable = squares > TINY
        shares: Floats = np.divide(covariance, squares, out=np.zeros(len(off)), where=usable)
        return shares.clip(0, 1)


def _steps(items: Items, draws: Sequence[Draw], labels: Floats) -> Steps:
    places = [draw.item for draw in draws]
    weights = np.array([draw.weight for draw in draws], float)
    values = items.weights * items.judge
    label = _sums(items.weights[places] * labels, weights)
    judge = _sums(values[places], weights)
    return Steps(label, judge, float(values.sum()), _precision(items, places))


def _precision(items: Items, places: Sequence[int]) -> Floats:
    sizes = np.abs(items.weights)
    return np.asarray(1 / (sizes.sum() - _before(sizes[places])) ** 2)


def _before(values: Floats) -> Floats:
    """Return the sum of the values before each one."""
    return np.asarray(np.concatenate([[0.0], values.cumsum()])[: len(values)])


def _sums(values: Floats, weights: Floats) -> Floats:
    """Return the estimate of the whole sum that each draw gives."""
    return _before(values) + values * weights


def estimated(
    items: Items,
    draws: Sequence[Draw],
    labels: Sequence[float],
    such: bool = False,
    level: float = 0.95,
) -> Estimate | None:
    """Estimate the measure, with an interval for a number of draws that was fixed beforehand.

    tests/evaluation/test_labeling.py shows the coverage.

    Args:
        labels: of the draws.
        such: whether the interval is for other questions of the same kind; else it is for these.
        level: of the interval.

    Returns:
        None with fewer than three labels, or for other questions from fewer than two.
    """
    given, n = np.array(labels, float), len(labels)
    if n < 3 or (such and len(np.unique(items.questions)) < 2):
        return None
    steps, number = _steps(items, draws, given), np.arange(n)
    if n < CROSSED:
        halves = [steps.shares(number % 2 == side)[-1] for side in (1, 0)]
        share: Floats = np.where(number % 2, halves[1], halves[0])
    else:
        share = steps.shares(number >= 0)[-1:]
    found = steps.corrected(share)
    value = float(np.average(found, weights=steps.precision))
    squares = float((steps.precision * (found - value) ** 2).sum())
    variance, freedom = squares / (n - 1) / float(steps.precision.sum()), n - 1
    if len(draws) == len(items.weights):
        # All that there is to know is known.
        weights = items.weights[[draw.item for draw in draws]]
        value, variance = float((weights * given).sum()), 0.0
    if such:
        parts = _by_question(items, draws, given, float(share.mean()))
        variance = max(variance, items.of * float(parts.var(ddof=1)))
        freedom = min(freedom, items.of - 1)
    error = math.sqrt(variance) / items.of
    half = float(t_quantile((1 - level) / 2, freedom)) * error
    return Estimate(value / items.of, value / items.of - half, value / items.of + half, error)


def _by_question(items: Items, draws: Sequence[Draw], labels: Floats, share: float) -> Floats:
    """Return the estimate of each question's sum, shape (items.of,)."""
    places, weights = [draw.item for draw in draws], np.array([draw.weight for draw in draws])
    precision = _precision(items, places)
    rest = items.weights[places] * (labels - share * items.judge[places])
    asked = items.questions[places]
    known = share * items.weights * items.judge
    found = np.bincount(items.questions, known, items.of).astype(np.float64)
    for question in np.unique(asked):
        sums = _sums(np.where(asked == question, rest, 0.0), weights)
        found[question] += np.average(sums, weights=precision)
    return found


def narrower(items: Items, draws: Sequence[Draw], more: int) -> float:
    """Return the part of its width that the interval of `estimated` keeps after more draws."""
    sizes = np.abs(items.weights)
    left = len(sizes) - len(draws)
    if more >= left:
        return 0.0
    places = [draw.item for draw in draws]
    known = float(_precision(items, places).sum())
    rest = sizes.sum() - sizes[places].sum()
    # Each draw is taken to be of an average item.
    added = (1 / (rest * (1 - np.arange(more) / left)) ** 2).sum()
    return math.sqrt(known / (known + float(added)))


def halving(items: Items, draws: Sequence[Draw]) -> int:
    """Return how many more draws halve the interval of `estimated`."""
    left = len(items.weights) - len(draws)
    return bisect_left(range(left), -0.5, key=lambda more: -narrower(items, draws, more))


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the labels so far say of the difference of two systems.

    Args:
        e: the e-value against equal systems.
        difference: the mean of the unbiased estimates.
        low, high: of the 95 % confidence sequence; both are the difference once it is known.
    """

    e: float
    difference: float
    low: float
    high: float

    @property
    def better(self) -> int:
        """Return 1 if the first system is better, -1 if the second is, 0 if it is open or equal."""
        decided = self.e >= CONVINCING or self.low == self.high
        return int(np.sign(self.difference)) if decided else 0


def evidence(items: Items, draws: Sequence[Draw], labels: Sequence[float]) -> Evidence:
    """Weigh the labels so far.

    What was rejected once stays rejected: one may have looked then.

    Args:
        labels: of the draws, in their order.
    """
    given, places = np.array(labels, float), np.array([draw.item for draw in draws], int)
    estimates, bounds = bets(items, draws, given)
    ends = np.stack([items.weights * end for end in (items.worst, items.best)])
    limit = float(np.abs(ends).max(axis=0).sum()) / items.of
    nulls = NULLS * limit
    values = np.array([highest_e_value(estimates, bounds, null) for null in nulls])
    # What is not labeled yet can change the sum only so much.
    seen = float((items.weights[places] * given).sum()) / items.of
    sides = ends.min(axis=0), ends.max(axis=0)
    least, most = (float(np.delete(end, places).sum()) / items.of for end in sides)
    e = highest_e_value(estimates, bounds, 0.0)
    if len(draws) == len(items.weights):
        # Labels that cancel out leave a sum of rounding errors.
        known = seen if abs(seen) > SLACK * limit else 0.0
        return Evidence(e, known, known, known)
    middle = float(estimates.mean()) if len(draws) else 0.0
    low, high = seen + least, seen + most
    kept = np.flatnonzero(values < CONVINCING)
    # The truth may lie between a difference that was rejected and the next one.
    if len(kept) and kept[0] > 0:
        low = max(low, _edge(estimates, bounds, nulls[kept[0] - 1], nulls[kept[0]]))
    if len(kept) and kept[-1] < len(nulls) - 1:
        high = min(high, _edge(estimates, bounds, nulls[kept[-1] + 1], nulls[kept[-1]]))
    return Evidence(e, middle, min(low, high), max(low, high))


def _edge(estimates: Floats, bounds: Floats, rejected: float, kept: float) -> float:
    """Return where rejection ends between a difference that is rejected and one that is kept."""

    def beyond(null: float) -> float:
        return highest_e_value(estimates, bounds, null) - CONVINCING

    return float(optimize.brentq(beyond, rejected, kept))


def bets(items: Items, draws: Sequence[Draw], labels: Floats) -> tuple[Floats, Floats]:
    """Return the estimate of each draw and the bound of its absolute value, known before it.

    A share of the model's values is subtracted that the draws before suggest.
    """
    steps = _steps(items, draws, labels)
    number = np.arange(len(draws))
    known = np.concatenate([[0.0], steps.shares(number >= 0)])[: len(draws)]
    share = (number * known + HALF / 2) / (number + HALF)
    places = [draw.item for draw in draws]
    sizes = items.weights[places]
    rest = _before(sizes * labels) - share * _before(sizes * items.judge[places])
    lowest, highest = items.judge.min(initial=0), items.judge.max(initial=0)
    off = np.maximum(items.best - share * lowest, share * highest - items.worst)
    largest = np.array([draw.largest for draw in draws], float)
    bounds = (np.abs(share * steps.whole + rest) + largest * off) / items.of
    return steps.corrected(share) / items.of, bounds


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
        sides = [
            np.exp(np.log1p(np.maximum(sign * steps, -1)).cumsum(axis=1)).mean(axis=0)
            for sign in (1, -1)
        ]
    return float(min(np.max(sum(sides)) / 2, 1e12))
