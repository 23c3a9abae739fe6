"""Questions that belong together: who does, and whether intervals and tests still hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import ttest_1samp

from bears.evaluation import means
from bears.evaluation.clusters import (
    Clusters,
    Floats,
    clusters_of,
    described,
    share_interval,
    standard_error,
)
from bears.evaluation.comparison.pairs import loss_bound, of_clusters, pairs_of
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.table import shown
from bears.files.records import write_lines
from bears.results.system import System
from bears.types import Question


def asked(key: str, gold: str = "", group: str = "") -> Question:
    return Question(key, key, "", tuple(gold), "s", "ad-hoc", group=group)


def test_questions_of_a_group_a_row_or_a_document_belong_together(tmp_path: Path) -> None:
    questions = [
        *(asked("a", "x"), asked("b", "xy"), asked("c", "y"), asked("d", "z")),
        *(asked("e", group="paper"), asked("f", "w", group="paper"), asked("g"), asked("h")),
    ]
    assert clusters_of(questions, None).tolist() == [0, 0, 0, 1, 2, 2, 3, 4]
    rows = [{"record_id": key, "row": row} for key, row in (("c", 7), ("d", 7), ("g", 8))]
    write_lines(tmp_path / "lineage.jsonl", [*rows, {"record_id": "x"}])
    found = clusters_of(questions, tmp_path / "lineage.jsonl").tolist()
    assert found == [0, 0, 0, 0, 1, 1, 2, 3]


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
    for key in ("difference", "p"):
        assert twice[key] == pytest.approx(once[key])
    plain = ttest_1samp((a - b)[:, 0], 0).confidence_interval(0.95)
    assert twice["low"][0] <= plain.low + 1e-9
    assert twice["high"][0] >= plain.high - 1e-9
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
        assert compare(systems)["clusters"] == {"n": 20}


@pytest.mark.parametrize("differ", [0, 1, 5])
def test_where_few_clusters_differ_the_bound_is_that_of_as_many_questions(differ: int) -> None:
    a = np.random.default_rng(5).random(20)
    d = np.where(np.arange(20) < differ, 0.0, a) - a
    clustered = loss_bound(d.repeat(4), np.arange(20).repeat(4))
    # The bound of the questions, or t where it is lower.
    assert clustered <= loss_bound(d, None) + 1e-9
    if differ > 15:
        assert clustered == pytest.approx(loss_bound(d, None))


def test_the_interval_of_few_clusters_is_that_of_t() -> None:
    """One number for each of eight clusters of equal size, as a t test of eight numbers has it."""
    d = np.random.default_rng(8).normal(0, 0.1, (8, 1))
    of = np.arange(8).repeat(50)
    found = of_clusters(d.repeat(50, 0), np.zeros((400, 1)), of, 999)
    plain = ttest_1samp(d[:, 0], 0).confidence_interval(0.95)
    assert (found["low"][0], found["high"][0]) == pytest.approx((plain.low, plain.high), abs=1e-9)


def test_of_one_cluster_nothing_is_known() -> None:
    of = np.zeros(20, np.int64)
    found = of_clusters(np.full((20, 1), 0.9), np.full((20, 1), 0.2), of, 999)
    assert (found["low"][0], found["high"][0], found["p"][0]) == (-1.0, 1.0, 1.0)
    assert share_interval(np.array([1.0, 1.0, 0.0] * 7), np.zeros(21, np.int64)) == pytest.approx(
        (0, 1), abs=1e-6
    )


@pytest.mark.parametrize(("number", "undecided"), [(5, True), (6, False)])
def test_few_clusters_count_as_clusters_and_say_which_p_they_can_have(
    number: int, undecided: bool
) -> None:
    ids = [f"q{i:03}" for i in range(120)]
    kinds = pd.DataFrame({"cluster": (np.arange(120) % number).astype(str)}, index=ids)
    values = {"a": np.full(120, 0.9), "b": np.random.default_rng(1).random(120) / 2}
    systems = [
        System(name, "", pd.DataFrame({"m": column}, index=ids), kinds)
        for name, column in values.items()
    ]
    result = compare(systems)
    [pair] = result["pairs"]
    assert result["clusters"] == {"n": number}
    assert pair["p"] == pytest.approx(2 / 2**number)
    assert pair["verdict"] == ("undecided" if undecided else "a better")
    assert ("p cannot be below 0.0625" in shown(result, "table")) == undecided


def test_a_large_cluster_that_differs_widens_the_bound_more() -> None:
    of = np.arange(16).repeat([8] + [4] * 15)
    a = np.ones((len(of), 1))
    large, small = (of_clusters(a, a - (of == at)[:, None], of, 999) for at in (0, 1))
    assert large["high"] > small["high"] >= small["difference"]
    assert max(large["low"], small["low"]) < 0


def test_questions_that_are_clusters_of_their_own_have_none() -> None:
    assert described(None) == described(np.arange(60)) == {}
    assert described(np.arange(60) // 3) == {"n": 20}


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
@pytest.mark.parametrize(
    ("clusters", "sizes"),
    [(6, (5, 50)), (8, (20, 20)), (12, (5, 50)), (20, (5, 5)), (20, (50, 50)), (60, (5, 50))],
)
def test_intervals_hold_and_equal_systems_rarely_differ(
    draw: Callable[[np.random.Generator, Clusters], Floats],
    clusters: int,
    sizes: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Ends from so many resamples are off by a third of a point of coverage.
    monkeypatch.setattr(means, "RESAMPLES", 1_999)
    rng, draws = np.random.default_rng(4), 300
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
    # Three standard errors of 300 draws are 4 points.
    assert held / draws >= 0.91
    assert alone / draws >= 0.91
    assert wrong / draws <= 0.09
    # Without clusters the interval of a share is too narrow.
    assert draw is graded or naive < alone
