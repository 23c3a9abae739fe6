"""The gate's tests: against scipy, and on simulated reruns of one retriever."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from bears.errors import FormatError
from bears.evaluation.clusters import Floats
from bears.evaluation.comparison.paired import mcnemar, randomization, smallest_loss
from bears.evaluation.comparison.pairs import of_shares
from bears.evaluation.comparison.result import judged
from bears.evaluation.comparison.values import Measured
from benchmarks.gating import KINDS, SIZES, clusters_of, failed, measured, runs


def gated(
    base: list[float] | Floats, candidate: list[float] | Floats, allow: float | None = None
) -> dict[str, object]:
    ids = [f"q{i:05}" for i in range(len(base))]
    base_, other = (
        Measured(name, "", pd.DataFrame({"m": values}, index=ids))
        for name, values in (("base", base), ("candidate", candidate))
    )
    (row,) = judged([other, base_], ["m"], allow)["pairs"]
    return dict(row)


def test_two_questions_can_be_judged_and_one_cannot() -> None:
    assert gated([1.0, 0.5], [0.5, 0.25])["n"] == 2
    with pytest.raises(FormatError, match="1 questions have m by both; it takes two"):
        gated([1.0], [0.5])


def test_one_sided_p_is_that_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for n in (6, 13):
        d = rng.normal(-0.3, 1, n)
        plain = stats.permutation_test(
            (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative="less"
        )
        assert randomization(d[:, None], 9999, True)[0] == pytest.approx(plain.pvalue)
    many = rng.normal(-0.1, 1, 200)
    t = stats.ttest_1samp(many, 0, alternative="less").pvalue
    assert randomization(many[:, None], 9999, True)[0] == pytest.approx(t, abs=0.015)
    for a, b in ((0, 5), (3, 9), (9, 3), (0, 0)):
        plain_p = stats.binomtest(a, a + b, alternative="less").pvalue if a + b else 1.0
        assert mcnemar(np.array([a * 1.0]), np.array([b * 1.0]), True)[0] == pytest.approx(plain_p)


def test_the_interval_of_90_percent_is_below_0_just_where_one_sided_p_is_significant() -> None:
    rng = np.random.default_rng(4)
    base, candidate = (rng.random((60, 400)) < share for share in (0.7, 0.6))
    found = of_shares(candidate.astype(float), base.astype(float), None, True)
    assert ((found["high"] < 0) == (found["p"] <= 0.05)).all()
    assert 20 < (found["p"] <= 0.05).sum() < 380


def test_without_any_difference_the_loss_that_could_show_is_that_of_five_lost_questions() -> None:
    """0.5 to the power of 5 is the first p below 0.05."""
    for n in (20, 60):
        loss = smallest_loss(np.zeros(n), None, 0.05)
        assert stats.binom.sf(4, n, loss) == pytest.approx(0.8, abs=1e-6)
    assert np.isnan(smallest_loss(np.zeros(4), None, 0.05))
    # Twenty clusters of three say no more than twenty questions.
    of = np.arange(60) // 3
    assert smallest_loss(np.zeros(60), of, 0.05) == smallest_loss(np.zeros(20), None, 0.05)
    assert np.isnan(smallest_loss(np.zeros(60), np.arange(60) // 15, 0.05))


@pytest.mark.slow
def test_as_many_questions_as_are_said_to_be_needed_allow_the_loss() -> None:
    for lost, n in ((1, 20), (2, 40), (9, 100)):
        base = np.ones(n)
        candidate = np.where(np.arange(n) < lost, 0.0, 1.0)
        if lost == 9:  # Some are won, too.
            base[-6:] = 0.0
        few = gated(base, candidate, 0.06)
        assert few["verdict"] == "undecided"
        times = int(np.ceil(int(str(few["questions_needed"])) / n))
        assert gated(np.tile(base, times), np.tile(candidate, times), 0.06)["verdict"] == "allowed"
    assert (
        gated(np.ones(40), np.where(np.arange(40) < 4, 0.0, 1.0), 0.1)["questions_needed"] is None
    )


@pytest.mark.slow
def test_a_small_loss_is_allowed_even_if_it_is_significant() -> None:
    base, candidate = np.ones(1000), np.where(np.arange(1000) < 8, 0.0, 1.0)
    assert gated(base, candidate)["verdict"] == "worse"
    assert gated(base, candidate, 0.02)["verdict"] == "allowed"
    assert gated(base, candidate, 0.005)["verdict"] == "worse"


@pytest.mark.slow
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("name", ["yes or no, .70", "yes or no, .95", "graded"])
def test_a_rerun_seldom_fails_and_the_loss_that_could_show_shows(name: str, n: int) -> None:
    """At most 5 % and at least 80 %, with three standard errors of 300 draws."""
    false, _, shown = measured(name, n, 300)
    assert false <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert shown >= 0.8 - 3 * np.sqrt(0.8 * 0.2 / 300)


@pytest.mark.slow
def test_clusters_that_were_ignored_would_fail_changes_that_change_nothing() -> None:
    """The simulation can see a wrong gate."""
    kind = KINDS["graded, clusters of 4"]
    pair = runs(kind, 300, 300, 0.0, np.random.default_rng(5))
    assert clusters_of(kind, 300) is not None
    assert failed(kind, *pair) <= 0.09
    assert failed(KINDS["graded"], *pair) > 0.09


@pytest.mark.parametrize("graded", [True, False])
def test_of_one_cluster_no_loss_can_be_ruled_out(graded: bool) -> None:
    ids = [f"q{i:02}" for i in range(20)]
    kinds = pd.DataFrame({"cluster": ["one"] * 20}, index=ids)
    values = np.linspace(0, 1, 20) if graded else np.arange(20) % 2 * 1.0
    base, candidate = (
        Measured(name, "", pd.DataFrame({"m": column}, index=ids), kinds)
        for name, column in (("base", values), ("candidate", values[::-1]))
    )
    for allow in (None, 0.05):
        (row,) = judged([candidate, base], ["m"], allow)["pairs"]
        assert row["verdict"] == "undecided"
        assert row["questions_needed"] is None
