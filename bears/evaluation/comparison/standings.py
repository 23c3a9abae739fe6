"""Where systems stand of which some are known by question and others by their means alone."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import test_proportions_2indep

from bears.evaluation.bootstrap import RESAMPLES, mean_interval, scale_of, yes_or_no
from bears.evaluation.comparison.groups import letters, rank_ranges
from bears.evaluation.comparison.pairs import pairs_of
from bears.evaluation.comparison.result import ALPHA, MOST_DRAWS
from bears.evaluation.intervals import share_interval


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a system stands under one measure.

    Args:
        low, high: the 95 % interval of its mean.
        group: the letters that it shares with those from which it cannot be told apart.
        rank: the best and the worst that it may have; those of all systems hold at once.
        paired: whether its values by question are known; else its mean is taken for a share of
            questions that nobody else was asked, which makes differences look less sure.
    """

    low: float
    high: float
    group: str
    rank: tuple[int, int]
    paired: bool


def standings(
    means: Mapping[str, float], values: Mapping[str, pd.Series], questions: int, best: float
) -> dict[str, Standing]:
    """Place systems of one state of a benchmark.

    Args:
        means: system to its mean.
        values: system to its values by question, of the same questions, for those that are known.
        questions: how many the means are over.
        best: the best mean that there can be, 1 or 100.
    """
    known = [name for name in means if name in values]
    matrix = np.column_stack([values[n] for n in known]) if known else np.zeros((0, 0))
    pairs = list(combinations(means, 2))
    paired = _paired_p(matrix, known, len(pairs))
    unpaired = {
        (a, b): _unpaired_p(means[a] / best, means[b] / best, questions)
        for a, b in pairs
        if (a, b) not in paired
    }
    p = [{**paired, **unpaired}[pair] for pair in pairs]
    corrected = multipletests(p, method="holm")[1] if p else []
    sure = zip(pairs, corrected, strict=True)
    different = {frozenset(pair) for pair, each in sure if each <= ALPHA}
    ordered = sorted(means, key=lambda name: (-round(means[name], 12), name))
    group, rank = letters(ordered, different), rank_ranges(means, different)
    ends = {
        name: _scaled(share_interval([mean / best] * questions), best)
        for name, mean in means.items()
    }
    if known:
        scale, share = scale_of(matrix), yes_or_no(matrix)
        columns = zip(known, matrix.T, strict=True)
        ends |= {name: mean_interval(column, scale, share) for name, column in columns}
    return {name: Standing(*ends[name], group[name], rank[name], name in values) for name in means}


def _scaled(ends: tuple[float, float], best: float) -> tuple[float, float]:
    return best * ends[0], best * ends[1]


def _paired_p(
    matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]], known: list[str], tests: int
) -> dict[tuple[str, str], float]:
    if len(known) < 2:
        return {}
    draws = min(max(RESAMPLES, 100 * tests - 1), MOST_DRAWS)
    frame = pairs_of({"": matrix}, known, draws)
    return {(a, b): p for a, b, p in zip(frame["a"], frame["b"], frame["p"], strict=True)}


def _unpaired_p(a: float, b: float, n: int) -> float:
    """p that two shares of other questions are one; too high for values between 0 and 1."""
    if a == b:
        return 1.0
    with np.errstate(divide="ignore"):  # It works out the ratio of odds as well.
        return float(test_proportions_2indep(a * n, n, b * n, n, method="score").pvalue)
