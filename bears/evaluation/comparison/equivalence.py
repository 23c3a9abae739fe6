"""Whether two systems are equal to within a difference that matters to nobody."""

import numpy as np
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from bears.evaluation.bootstrap import Floats
from bears.evaluation.comparison.paired import score_statistic


def equal_shares(only_a: Floats, only_b: Floats, n: Floats, within: Floats) -> Floats:
    """p of two one-sided score tests that two shares differ by ``within`` or more.

    Source: Tango, Statistics in Medicine 17 (1998). Arguments and result have shape (m,).
    """
    d = np.minimum(within, 1.0)
    above = stats.norm.sf(score_statistic(only_a, only_b, n, -d))
    below = stats.norm.cdf(score_statistic(only_a, only_b, n, d))
    p: Floats = np.maximum(above, below)
    return p


def equal_means(a: Floats, b: Floats, within: float) -> float:
    """p of two one-sided paired t tests that two means differ by ``within`` or more.

    Args:
        a, b: values of the same questions, shape (n,), n at least 2, that differ somewhere.
    """
    # Where all differ by the same there is no spread, and no p if that is by ``within``.
    with np.errstate(divide="ignore", invalid="ignore"):
        p = float(ttost_paired(a, b, -within, within)[0])
    return 1.0 if np.isnan(p) else p


def equal_for_few(only_a: Floats, only_b: Floats, n: Floats, within: Floats) -> Floats:
    """The same where few questions differ, and none of them by more than 1: p of two exact tests.

    Each says that one system is better on a share ``within`` of the questions or more.
    """
    p: Floats = stats.binom.cdf(np.maximum(only_a, only_b), n, np.minimum(within, 1.0))
    return p
