"""Numbers that are solved for, over all numbers of questions and tests that users have."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.power import TTestPower

from bears.evaluation.comparison.paired import (
    exact_critical_value,
    mcnemar,
    questions_for,
    score_interval,
    smallest_difference,
    smallest_loss,
)
from bears.evaluation.comparison.result import compare, judged
from bears.evaluation.comparison.values import Measured

ALPHAS = [0.1, *(0.05 / tests for tests in range(1, 11)), 0.05 / 765]


@pytest.mark.parametrize("alpha", ALPHAS)
def test_every_number_of_questions_could_show_a_difference(alpha: float) -> None:
    shown = [smallest_difference(1.0, n, alpha) for n in range(3, 5001)]
    assert all(each is not None and math.isfinite(each) for each in shown)
    assert np.all(np.diff(np.array(shown, float)) < 0)
    checked = 0
    for n in (*range(3, 130), 500, 2000, 5000):
        power = float(TTestPower().power(shown[n - 3], n, alpha))
        if not math.isnan(power):  # Theirs is not defined everywhere.
            assert power == pytest.approx(0.8, abs=1e-4)
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("alpha", ALPHAS)
def test_as_many_questions_as_needed_could_show_it_and_one_fewer_could_not(alpha: float) -> None:
    for n in (4, 12, 73, 120, 400, 999):
        shown = smallest_difference(0.3, n, alpha)
        assert shown is not None
        assert questions_for(shown * 1.0001, 0.3, alpha) == n
        assert questions_for(shown * 0.9999, 0.3, alpha) == n + 1


@pytest.mark.parametrize("alpha", ALPHAS)
def test_more_questions_show_smaller_losses(alpha: float) -> None:
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.1, 5000)
    sizes = [2, 3, 5, 6, 12, 59, 73, 95, 96, 120, 300, 1000, 5000]
    for of in (None, np.arange(5000) // 10):
        losses = [smallest_loss(noise[:n], None if of is None else of[:n], alpha) for n in sizes]
        known = [loss for loss in losses if not math.isnan(loss)]
        assert len(known) >= 3
        assert all(0 < loss <= 1 for loss in known)
        assert known[-1] < 0.05
        # What few questions cannot show stays unknown, and what is known stays known.
        assert known == losses[len(losses) - len(known) :]


def values(n: int, seed: int) -> list[Measured]:
    rng = np.random.default_rng(seed)
    ids = [f"q{i:05}" for i in range(n)]
    kinds = pd.DataFrame({"cluster": (np.arange(n) // (1 + seed % 3)).astype(str)}, index=ids)
    graded, binary = rng.random((2, n)).round(2), rng.random((2, n)) < 0.7
    return [
        Measured(name, "", pd.DataFrame({"g": g, "b": b * 1.0}, index=ids), kinds)
        for name, g, b in zip("ab", graded, binary, strict=True)
    ]


def check_comparison(n: int, seed: int) -> None:
    systems = values(n, seed)
    for pair in [*compare(systems, margin=0.1)["pairs"], *judged(systems, ["g", "b"])["pairs"]]:
        # Systems with the same values have no interval of their difference.
        same = systems[0].values[pair["measure"]].equals(systems[1].values[pair["measure"]])
        assert same == (pair["low"] is None)
        assert same or -1 <= pair["low"] <= pair["difference"] <= pair["high"] <= 1
        assert pair["least_p"] <= pair["p"] + 1e-9
        assert 0 < pair["p"] <= 1


@pytest.mark.parametrize("n", [120, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 73))])
def test_some_numbers_of_questions_are_compared_and_gated(n: int) -> None:
    check_comparison(n, seed=1)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 400) | st.sampled_from([73, 87, 92, 109, 117, 120, 5000]),
    seed=st.integers(0, 99),
)
def test_any_number_of_questions_is_compared_and_gated(n: int, seed: int) -> None:
    check_comparison(n, seed)


def test_tests_and_intervals_of_any_counts_are_defined() -> None:
    n = np.repeat(np.array([2.0, 3.0, 73.0, 120.0, 5000.0]), 40)
    rng = np.random.default_rng(1)
    a = np.floor(rng.random(200) * (n + 1))
    b = np.floor(rng.random(200) * (n - a + 1))
    low, high = score_interval(a, b, n, exact_critical_value(a + b))
    difference = (a - b) / n
    assert np.all((low <= difference + 1e-9) & (difference <= high + 1e-9))
    assert np.all((low >= -1) & (high <= 1))
    assert np.all((mcnemar(a, b) >= 0) & (mcnemar(a, b) <= 1))
