"""Estimate a mean over a finite set of items from a judge's values of all and labels of some."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bears.config.ledger.agreement import Rate
from bears.evaluation.clusters import Floats, t_quantile, wilson_of

SEED = 20_261_126
RESAMPLES = 199
QUANTILE = 2.2
"""Of the interval of a rate: with that of a normal distribution it would be too narrow."""
FEW = 5
"""How many labels a stratum needs not to be joined with another."""


@dataclass(frozen=True, slots=True)
class Estimate(Rate):
    """A mean with its 95 % interval, and its standard error."""

    error: float


def estimate(
    labels: Floats, judge: Floats, worst: float = 0, best: float = 1, finite: bool = True
) -> Estimate | None:
    """Estimate the mean label of all items; labeled ones are a random sample, or so per stratum.

    Items with the same value of the judge are a stratum; neighbors with fewer than `FEW` labels are
    joined. In each stratum the weight on the judge is cov(label, judge) / var(judge) / (1 + n/N),
    from 0 to 1. The variance has the correction for a finite set, and in each stratum two
    observations more with the variance of all labels, since few equal labels do not prove that
    there is no other one. The interval is Wilson's for as many labels as have that error, with the
    quantile of a t distribution. tests/evaluation/test_labels.py shows its coverage.

    Source: Angelopoulos et al., Science 382 (2023), and Fisch et al., arXiv 2406.04291 (strata).

    Args:
        labels: shape (n,), NaN for an item without a label.
        judge: shape (n,); a constant leaves the judge out.
        worst, best: the ends of the labels' scale.
        finite: whether the items are all there are; if so, nothing is uncertain once all have
            labels.

    Returns:
        None with fewer than two labels.
    """
    known = ~np.isnan(labels)
    n, size = int(known.sum()), len(labels)
    if n < 2:
        return None
    spread, value, variance = float(labels[known].var(ddof=1)), 0.0, 0.0
    strata = _strata(judge, known)
    for stratum in np.unique(strata):
        inside = strata == stratum
        here = inside & known
        of, count = int(inside.sum()), int(here.sum())
        weight = _weight(labels[here], judge[here], count / of)
        rests = labels[here] - weight * judge[here]
        value += of / size * float(weight * judge[inside].mean() + rests.mean())
        squares = float(((rests - rests.mean()) ** 2).sum()) + 2 * spread
        variance += (of / size) ** 2 * (1 - finite * count / of) * squares / count**2
    share = min(max((value - worst) / (best - worst), 0.0), 1.0)
    error = math.sqrt(variance)
    quantile = float(t_quantile(0.025, max(n - len(np.unique(strata)), 1)))
    alone = share * (1 - share) * (best - worst) ** 2
    if alone > 0 and variance > 0:
        worth = alone / variance
    else:  # All labels are the same, or all items are labeled.
        worth = n / (1 - n / size) if n < size else math.inf
    low, high = wilson_of(share, worth, quantile)
    low, high = (worst + (best - worst) * end for end in (low, high))
    return Estimate(value, low, high, error)


def _weight(labels: Floats, judge: Floats, share: float) -> float:
    if len(labels) < 2 or judge.var() < 1e-12:
        return 0.0
    covariance = np.cov(labels, judge)
    return float(np.clip(covariance[0, 1] / covariance[1, 1] / (1 + share), 0, 1))


def _strata(judge: Floats, known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number the values of the judge, joining neighbors until each has `FEW` labels."""
    _, codes = np.unique(judge, return_inverse=True)
    counts = np.bincount(codes[known], minlength=codes.max() + 1)
    joined, number, held = np.zeros(len(counts), np.int64), 0, 0
    for code, count in enumerate(counts.tolist()):
        joined[code], held = number, held + count
        if held >= FEW and counts[code + 1 :].sum() >= FEW:
            number, held = number + 1, 0
    found: NDArray[np.int64] = joined[codes]
    return found


def exchange_interval(labels: Floats, judge: Floats) -> tuple[float, float] | None:
    """Return the 95 % interval of `exchange_rate`; None if it is unknown.

    The logarithm of the rate has the standard error of a bootstrap over the labeled items. The
    quantile of `QUANTILE` makes the interval hold from 30 labels on (simulated on EVOUNA).
    """
    rate, known = exchange_rate(labels, judge), np.flatnonzero(~np.isnan(labels))
    rng, rates = np.random.default_rng(SEED), []
    unlabeled = np.full(len(labels), np.nan)
    for _ in range(RESAMPLES):
        drawn = rng.choice(known, len(known))
        again = np.concatenate([unlabeled, labels[drawn]])
        found = exchange_rate(again, np.concatenate([judge, judge[drawn]]))
        if found:
            rates.append(math.log(found))
    if not rate or len(rates) < RESAMPLES / 2:
        return None
    spread = math.exp(QUANTILE * float(np.std(rates)))
    return rate / spread, rate * spread


def exchange_rate(labels: Floats, judge: Floats) -> float | None:
    """Return how many labels without the judge are worth one with it; None if unknown."""
    constant = np.zeros(len(judge))
    alone, with_judge = (estimate(labels, each, finite=False) for each in (constant, judge))
    if alone is None or with_judge is None or not with_judge.error > 0:
        return None
    return (alone.error / with_judge.error) ** 2
