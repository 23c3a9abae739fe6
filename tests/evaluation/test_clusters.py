"""Questions that belong together: who does, and whether intervals and tests still hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import binomtest

from bears.evaluation.clusters import (
    Clusters,
    Floats,
    clusters_of,
    described,
    share_interval,
    standard_error,
)
from bears.evaluation.comparison.pairs import of_clusters, of_means, pairs_of
from bears.evaluation.comparison.result import compare
from bears.results.system import System
from bears.types import Question


def asked(key: str, gold: str = "", group: str = "") -> Question:
    return Question(key, key, "", tuple(gold), "s", "ad-hoc", group=group)


def test_questions_of_a_group_a_row_or_a_document_belong_together() -> None:
    questions = [
        *(asked("a", "x"), asked("b", "xy"), asked("c", "y"), asked("d", "z")),
        *(asked("e", group="paper"), asked("f", "w", group="paper"), asked("g"), asked("h")),
    ]
    assert clusters_of(questions).tolist() == [0, 0, 0, 1, 2, 2, 3, 4]
    assert clusters_of(questions, {"c": 7, "d": 7, "g": 8}).tolist() == [0, 0, 0, 0, 1, 1, 2, 3]


def drawn(rng: np.random.Generator, clusters: int, sizes: tuple[int, int]) -> Clusters:
    return np.repeat(np.arange(clusters), rng.integers(sizes[0], sizes[1] + 1, clusters))


def test_the_standard_error_is_that_of_a_regression_on_a_constant() -> None:
    rng = np.random.default_rng(1)
    of = drawn(rng, 30, (1, 12))
    values = rng.normal(0, 1, len(of)) + rng.normal(0, 1, 30)[of]
    fit = sm.OLS(values, np.ones(len(of))).fit(
        cov_type="cluster", cov_kwds={"groups": of, "use_correction": False}
    )
    (error,), _ = standard_error(values[:, None], of)
    # Theirs is without the correction for the number of clusters.
    assert error == pytest.approx(float(fit.bse[0]) * np.sqrt(30 / 29), rel=1e-9)


def test_asking_each_question_twice_proves_nothing_more() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.random((40, 1)), rng.random((40, 1))
    once = of_clusters(a, b, np.arange(40), 9_999)
    twice = of_clusters(a.repeat(2, 0), b.repeat(2, 0), np.arange(40).repeat(2), 9_999)
    for key in ("difference", "low", "high", "p"):
        assert twice[key] == pytest.approx(once[key])
    low, high = share_interval(np.array([1.0, 0.0] * 20))
    wide = share_interval(np.array([1.0, 0.0] * 20).repeat(3), np.arange(40).repeat(3))
    assert wide == pytest.approx((low, high), abs=0.02)


def test_the_clusters_that_one_system_knows_count_for_both_in_either_order() -> None:
    ids = pd.Index([f"q{number:02}" for number in range(40)])
    values = np.random.default_rng(4).random((40, 2))
    known = pd.DataFrame({"cluster": (np.arange(40) // 2).astype(str)}, index=ids)
    some = known.assign(cluster=ids)
    one, other = (
        System(name, "", pd.DataFrame({"m": column}, index=ids), kinds)
        for name, column, kinds in zip("ab", values.T, (some, known), strict=True)
    )
    for systems in ([one, other], [other, one]):
        assert compare(systems)["clusters"] == {"n": 20, "resampled": True}


@pytest.mark.parametrize("differ", [0, 1, 5, 9])
def test_where_few_clusters_differ_the_bound_is_that_of_as_many_questions(differ: int) -> None:
    a = np.random.default_rng(5).random((20, 1))
    b = np.where(np.arange(20)[:, None] < differ, 0.0, a)
    questions = of_means(a, b, 999, np.array([0.3]))
    clusters = of_clusters(
        a.repeat(4, 0), b.repeat(4, 0), np.arange(20).repeat(4), 999, np.array([0.3])
    )
    for key in ("difference", "low", "high", "p", "p_equal", "wide"):
        assert clusters[key] == pytest.approx(questions[key])
    highs = [binomtest(k, 20).proportion_ci(0.95, "exact").high for k in (differ, 0)]
    assert [*clusters["high"], *-clusters["low"]] == pytest.approx(highs)
    assert clusters["p_equal"] == pytest.approx(binomtest(differ, 20, 0.3, "less").pvalue)


def test_a_large_cluster_that_differs_widens_the_bound_more() -> None:
    of = np.arange(16).repeat([8] + [4] * 15)
    a = np.ones((len(of), 1))
    large, small = (of_clusters(a, a - (of == at)[:, None], of, 999) for at in (0, 1))
    assert large["high"] > small["high"] >= small["difference"]
    assert large["low"] == small["low"] < 0


def test_few_or_unequal_clusters_are_named_and_not_used() -> None:
    ids = [f"q{i:02}" for i in range(60)]
    rng = np.random.default_rng(3)
    columns = [pd.DataFrame({"m": rng.random(60)}, index=ids) for _ in "ab"]

    def compared(of: Clusters) -> dict[str, object]:
        kinds = pd.DataFrame({"cluster": of.astype(str)}, index=ids)
        return compare([System(n, "", c, kinds) for n, c in zip("ab", columns, strict=True)])

    alone = compare([System(n, "", c) for n, c in zip("ab", columns, strict=True)])
    few, unequal = np.arange(60) % 9, np.maximum(np.arange(60) - 40, 0)
    for of, n in ((few, 9), (unequal, 20)):
        found = compared(of)
        assert found["clusters"] == {"n": n, "resampled": False}
        assert found["pairs"] == alone["pairs"]
    assert "clusters" not in compared(np.arange(60))
    many = compared(np.arange(60) // 3)
    assert many["clusters"] == {"n": 20, "resampled": True}
    assert many["pairs"] != alone["pairs"]
    assert described(None) == {}


def binary(rng: np.random.Generator, of: Clusters) -> Floats:
    """Two equal systems, more alike within a cluster than between clusters."""
    clusters, hard = of.max() + 1, rng.normal(0, 0.7, len(of))
    found = [
        (rng.normal(0, 0.5, clusters)[of] + hard + rng.normal(0, 1, len(of)) > -0.5) * 1.0
        for _ in "ab"
    ]
    return np.column_stack(found)


def graded(rng: np.random.Generator, of: Clusters) -> Floats:
    clusters, hard = of.max() + 1, rng.normal(0, 0.7, len(of))
    found = [
        1 / (1 + np.exp(-(rng.normal(0, 0.5, clusters)[of] + hard + rng.normal(0, 1, len(of)))))
        for _ in "ab"
    ]
    return np.column_stack(found)


@pytest.mark.slow
@pytest.mark.parametrize("draw", [binary, graded])
@pytest.mark.parametrize(("clusters", "sizes"), [(20, (5, 5)), (20, (50, 50)), (60, (5, 50))])
def test_intervals_hold_and_equal_systems_rarely_differ(
    draw: Callable[[np.random.Generator, Clusters], Floats], clusters: int, sizes: tuple[int, int]
) -> None:
    rng, draws = np.random.default_rng(4), 1_000
    held = wrong = naive = alone = 0
    mean = draw(rng, drawn(rng, 20_000, (5, 5))).mean()
    for _ in range(draws):
        of = drawn(rng, clusters, sizes)
        values = draw(rng, of)
        (row,) = pairs_of({"m": values}, "ab", 999, None, of).to_dict("records")
        wrong += row["p"] <= 0.05
        held += row["low"] <= 0 <= row["high"]
        low, high = share_interval(values[:, 0], of)
        alone += low <= mean <= high
        low, high = share_interval(values[:, 0])
        naive += low <= mean <= high
    # Three standard errors of 1,000 draws are 2 points.
    assert 0.92 <= held / draws <= 0.98
    assert 0.92 <= alone / draws <= 0.98
    assert wrong / draws <= 0.07
    # Without clusters the interval of a share is too narrow.
    assert draw is graded or naive < alone
