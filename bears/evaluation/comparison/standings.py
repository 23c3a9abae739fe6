"""Place systems of which some are known by question and others only by their means."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import test_proportions_2indep

from bears.evaluation.clusters import Clusters, share_interval
from bears.evaluation.comparison.groups import placed
from bears.evaluation.comparison.paired import ALPHA, draws_for, holm
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.means import mean_interval, scale_of, yes_or_no


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of a system under one measure.

    Args:
        low, high: the 95 % interval of its mean.
        group: the letters that it shares with systems that do not differ significantly.
        rank: the best and the worst rank that it may have; the ranges of all systems hold at once.
        paired: whether its values by question are known. If not, its mean is treated as a share of
            other questions, which makes differences look less certain.
    """

    low: float
    high: float
    group: str
    rank: tuple[int, int]
    paired: bool


def standings(
    means: Mapping[str, float],
    values: Mapping[str, pd.Series],
    questions: int,
    best: float,
    clusters: Clusters | None = None,
) -> dict[str, Standing]:
    """Place systems of one state of a benchmark.

    Args:
        means: system to its mean.
        values: system to its values by question, of the same questions, for those that are known.
        questions: how many the means are over.
        best: the best possible mean, 1 or 100.
        clusters: of the questions whose values are known.
    """
    known = [name for name in means if name in values]
    matrix = np.column_stack([values[n] for n in known]) if known else np.zeros((0, 0))
    pairs = list(combinations(means, 2))
    p = {
        (a, b): _unpaired_p(means[a] / best, means[b] / best, questions)
        for a, b in pairs
        if not {a, b} <= {*known}
    }
    if len(known) > 1:
        frame = pairs_of({"": matrix}, known, draws_for(len(pairs)), None, clusters)
        p |= dict(zip(zip(frame["a"], frame["b"], strict=True), frame["p"], strict=True))
    corrected = zip(pairs, holm([p[pair] for pair in pairs]), strict=True)
    places = placed(means, {frozenset(pair) for pair, own in corrected if own <= ALPHA})
    ends = {name: share_interval(np.full(questions, mean / best)) for name, mean in means.items()}
    ends = {name: (best * low, best * high) for name, (low, high) in ends.items()}
    if known:
        scale, share = scale_of(matrix), yes_or_no(matrix)
        columns = zip(known, matrix.T, strict=True)
        ends |= {name: mean_interval(column, scale, share, clusters) for name, column in columns}
    return {name: Standing(*ends[name], *places[name], name in values) for name in means}


def _unpaired_p(a: float, b: float, n: int) -> float:
    """Return p that two shares of different questions are equal; too high for graded values."""
    if a == b:
        return 1.0
    with np.errstate(divide="ignore"):  # It computes the ratio of odds as well.
        return float(test_proportions_2indep(a * n, n, b * n, n, method="score").pvalue)
