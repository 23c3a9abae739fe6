"""Test whether two systems are equal to within a margin."""

import numpy as np
from scipy import stats
from statsmodels.stats.weightstats import ttost_paired

from bears.evaluation.clusters import Floats
from bears.evaluation.comparison.paired import score_statistic


def equal_shares(only_a: Floats, only_b: Floats, n: Floats, margin: Floats) -> Floats:
    """Return p of two one-sided score tests that two shares differ by ``margin`` or more.

    Source: Tango, Statistics in Medicine 17 (1998). Arguments and result have shape (m,).
    """
    d = np.minimum(margin, 1.0)
    above = stats.norm.sf(score_statistic(only_a, only_b, n, -d))
    below = stats.norm.cdf(score_statistic(only_a, only_b, n, d))
    p: Floats = np.maximum(above, below)
    return p


def equal_means(a: Floats, b: Floats, margin: float) -> float:
    """Return p of two one-sided paired t tests that two means differ by ``margin`` or more.

    Args:
        a, b: values of the same questions, shape (n,), n at least 2, that differ somewhere.
    """
    # Equal differences have no spread. If they equal the margin, p is not defined.
    with np.errstate(divide="ignore", invalid="ignore"):
        p = float(ttost_paired(a, b, -margin, margin)[0])
    return 1.0 if np.isnan(p) else p


def equal_for_few(only_a: Floats, only_b: Floats, n: Floats, margin: Floats) -> Floats:
    """Return p of two exact tests, for pairs that differ on few questions.

    Each test's null hypothesis is that one system is better on a share of at least ``margin`` of
    the questions. No two values may differ by more than 1.
    """
    p: Floats = stats.binom.cdf(np.maximum(only_a, only_b), n, np.minimum(margin, 1.0))
    return p
