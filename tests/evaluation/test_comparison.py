"""Differences between systems: against published values, against scipy and statsmodels."""

import itertools
import json
import math
import re
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as plain_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestPower
from statsmodels.stats.weightstats import ttost_paired

from bears.evaluation.clusters import Floats, Z
from bears.evaluation.comparison.paired import (
    equal_shares,
    exact_critical_value,
    mcnemar,
    questions_for,
    randomization,
    score_interval,
    smallest_difference,
)
from bears.evaluation.comparison.pairs import (
    letters,
    loss_bound,
    of_means,
    of_shares,
    pairs_of,
    rank_ranges,
)
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.table import shown
from bears.evaluation.comparison.values import Measured as System
from bears.evaluation.means import mean_interval, random_means, worst_case
from bears.files.intake.files import json_value
from benchmarks.comparing import kinds


def system(name: str, values: dict[str, list[float]], **known: object) -> System:
    n = len(next(iter(values.values())))
    ids = pd.Index([f"q{i:05}" for i in range(n)], name="question_id")
    return System(name, "", pd.DataFrame(values, index=ids), **known)  # type: ignore[arg-type]


def graded(seed: int, n: int = 60) -> list[float]:
    drawn = np.random.default_rng(seed).choice([0, 0.39, 0.5, 0.63, 1.0], n)
    return [float(value) for value in drawn]


def counts(only_a: float, only_b: float, n: float) -> tuple[Floats, Floats, Floats]:
    return np.array([only_a * 1.0]), np.array([only_b * 1.0]), np.array([n * 1.0])


def test_the_published_submissions_of_pandachat_are_one_group(shared_data: Path) -> None:
    systems = []
    for path in sorted((shared_data / "pandachat" / "submissions").glob("*.json")):
        rows = json_value(path, nan="none")["df"]
        right = [float(row["document"] in row["sources"][:2]) for row in rows]
        systems.append(system(path.stem, {"success@2": right}))
    assert len(systems) == 4
    result = compare(systems)
    assert {pair["verdict"] for pair in result["pairs"]} == {"no significant difference"}
    assert {s["measures"]["success@2"]["group"] for s in result["systems"]} == {"a"}


def test_peoples_verdicts_on_evouna_tell_all_systems_apart_but_gpt4_and_newbing(
    shared_data: Path,
) -> None:
    rows = json.loads((shared_data / "evouna" / "NQ.json").read_bytes())
    names = ["fid", "gpt35", "chatgpt", "gpt4", "newbing"]
    whole = [
        [row[f"judge_{name}"] for name in names]
        for row in rows
        if not row["improper"] and all(row[f"judge_{name}"] is not None for name in names)
    ]
    assert len(whole) == 3019
    verdicts = np.array(whole, float)
    result = compare(
        [system(n, {"pass_rate": verdicts[:, i].tolist()}) for i, n in enumerate(names)]
    )
    pair = {(p["a"], p["b"]): p for p in result["pairs"]}
    assert result["corrected_over"] == "10 pairs of pass_rate"
    assert pair["fid", "gpt35"]["p"] == pytest.approx(0.00058, abs=5e-6)
    assert pair["fid", "gpt35"]["p_holm"] == pytest.approx(0.00116, abs=5e-6)
    assert pair["gpt4", "newbing"]["p"] == pytest.approx(0.169, abs=5e-4)
    same = [key for key, p in pair.items() if p["verdict"] == "no significant difference"]
    assert same == [("gpt4", "newbing")]
    of = {s["name"]: s["measures"]["pass_rate"] for s in result["systems"]}
    assert {name: of[name]["group"] for name in names} == {
        **{"gpt4": "a", "newbing": "a", "chatgpt": "b", "fid": "c", "gpt35": "d"}
    }
    assert of["gpt4"]["rank"] == of["newbing"]["rank"] == [1, 2]
    assert of["gpt35"]["rank"] == [5, 5]


def test_the_score_interval_is_the_published_one() -> None:
    """By contingencytables (R), on Cavo et al. 2012; by Fagerland et al. 2014, on Bentur 2009."""
    low, high = score_interval(*counts(6, 16, 161), Z)
    assert (round(low[0], 4), round(high[0], 4)) == (-0.1240, -0.0054)
    low, high = score_interval(*counts(1, 7, 21), Z)
    assert (round(low[0], 3), round(high[0], 3)) == (-0.517, -0.026)


@pytest.mark.slow
def test_an_interval_excludes_0_just_where_the_exact_test_is_significant() -> None:
    """All numbers of differing questions up to 60, and all ways to divide them."""
    pairs = [(k, m - k) for m in range(61) for k in range(m + 1)]
    only_a, only_b = np.array(pairs, float).T
    plain = [stats.binomtest(a, a + b).pvalue if a + b else 1.0 for a, b in pairs]
    for n in (60, 200):
        rows = np.arange(n)[:, None]
        a, b = rows >= only_b, (rows < only_b) | (rows >= only_a + only_b)
        found = of_shares(a.astype(float), b.astype(float))
        excluded = (found["low"] > 0) | (found["high"] < 0)
        assert excluded.tolist() == [p <= 0.05 for p in plain]
        plain_ends = score_interval(only_a, only_b, np.full(len(pairs), float(n)), Z)
        assert (found["low"] <= plain_ends[0] + 1e-9).all()
        assert (found["high"] >= plain_ends[1] - 1e-9).all()


@pytest.mark.parametrize("better", [0.5, 0.7, 0.9])
@pytest.mark.parametrize(("n", "share"), [(60, 0.5), (300, 0.1), (1000, 0.05), (1000, 0.3)])
def test_intervals_of_30_or_more_differing_questions_hold_the_truth_in_93_to_98_percent(
    n: int, share: float, better: float
) -> None:
    shares = [share * better, share * (1 - better), 1 - share]
    drawn = np.random.default_rng(7).multinomial(n, shares, 4000).astype(float)
    critical = exact_critical_value(drawn[:, 0] + drawn[:, 1])
    low, high = score_interval(drawn[:, 0], drawn[:, 1], np.full(4000, float(n)), critical)
    held = np.mean((low <= shares[0] - shares[1]) & (shares[0] - shares[1] <= high))
    assert 0.93 <= held <= 0.98


def test_mcnemar_is_that_of_statsmodels() -> None:
    for b, c in itertools.product((0, 1, 7, 40), repeat=2):
        plain = plain_mcnemar([[5, b], [c, 5]], exact=True).pvalue
        assert mcnemar(*counts(b, c, 0)[:2])[0] == pytest.approx(plain, abs=1e-9)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_intervals_of_zeros_and_ones_are_the_published_ones(level: float) -> None:
    """Half a value at each end is Jeffreys' interval, and one at the low end Clopper-Pearson's."""
    tail = (1 - level) / 2
    for n, hits in ((1, 0), (20, 0), (20, 3), (60, 59), (300, 150)):
        values = np.repeat([[1.0], [0.0]], [hits, n - hits], axis=0)
        plain = stats.beta.interval(level, hits + 0.5, n - hits + 0.5)
        found = np.quantile(random_means(values, 0.0, 1.0)[:, 0], (tail, 1 - tail))
        # 9,999 draws; the ends of the shortest interval are a hundredth of its width off.
        assert found == pytest.approx(plain, abs=0.004 if n > 1 else 0.01)
        exact = stats.binomtest(hits, n).proportion_ci(level, "exact")
        assert worst_case(values, 0.0, tail)[0] == pytest.approx(exact.low, abs=0.004)


@pytest.mark.parametrize("n", [20, 60, pytest.param(300, marks=pytest.mark.slow)])
@pytest.mark.parametrize("lost", [0.01, 0.02, 0.05, 0.1, 0.3])
def test_rare_large_losses_among_many_tiny_ones_are_never_ruled_out(n: int, lost: float) -> None:
    """A bootstrap's lower end would be above the truth in up to 61 % of these."""
    rng = np.random.default_rng(n)
    d = np.where(rng.random((n, 400)) < lost, -1.0, rng.normal(0, 0.005, (n, 400)))
    missed = np.mean([loss_bound(column, None) > -lost for column in d.T])
    # Three standard errors of 400 draws.
    assert missed <= 0.083


def test_few_questions_have_the_exact_p_of_scipy() -> None:
    d = np.array(graded(3, 11)) - np.array(graded(4, 11))
    plain = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert randomization(d[:, None], 9999)[0] == pytest.approx(plain.pvalue, abs=1e-9)


def test_many_questions_have_about_the_p_of_scipy_and_never_0() -> None:
    d = np.array(graded(1)) - np.array(graded(2)) + 0.05
    plain = stats.permutation_test((d,), np.mean, permutation_type="samples", rng=1).pvalue
    ours = randomization(np.column_stack([d, d * 0 + 1]), 19_999)
    assert ours[0] == pytest.approx(plain, abs=0.02)
    assert ours[1] == 1 / 20_000


def test_corrections_powers_and_equality_are_those_of_statsmodels() -> None:
    systems = [system(f"s{i}", {"m": graded(i)}) for i in range(4)]
    result = compare(systems, margin=0.3)
    p = [pair["p"] for pair in result["pairs"]]
    holm = [pair["p_holm"] for pair in result["pairs"]]
    assert holm == pytest.approx(multipletests(p, method="holm")[1], abs=1e-9)
    a, b = (np.array(graded(i)) for i in (0, 1))
    plain = ttost_paired(a, b, -0.3, 0.3)[0]
    assert plain <= result["pairs"][0]["p_equal"] <= 10 * plain + 0.001
    size = TTestPower().solve_power(nobs=60, alpha=0.05 / 6, power=0.8)
    spread = float(np.std(a - b, ddof=1))
    shown = result["pairs"][0]["smallest_difference"]
    assert shown == pytest.approx(size * spread, abs=1e-4)


@pytest.mark.slow
def test_the_main_measure_has_one_p_whatever_else_is_compared() -> None:
    shifted = [[min(1.0, value + 0.1 * i) for value in graded(i)] for i in range(3)]
    systems = [
        system(f"s{i}", {"x": graded(i + 5), "m": shifted[i], "y": graded(i + 9)}) for i in range(3)
    ]
    whole, alone = compare(systems, main="m"), compare(systems, ["m"], main="m")
    assert [pair for pair in whole["pairs"] if pair["measure"] == "m"] == alone["pairs"]
    assert whole["corrected_over"] == alone["corrected_over"] == "3 pairs of m"
    assert whole["others_corrected_over"] == "3 pairs x 2 other measures"
    others = [pair for pair in whole["pairs"] if pair["measure"] != "m"]
    holm = multipletests([pair["p"] for pair in others], method="holm")[1]
    assert [pair["p_holm"] for pair in others] == pytest.approx(holm, abs=1e-9)


def test_a_difference_that_is_the_same_everywhere_could_show_nothing() -> None:
    a = [0.1, 0.2, 0.3, 0.7] * 5
    systems = [system("a", {"m": a}), system("b", {"m": [value + 0.1 for value in a]})]
    assert compare(systems)["pairs"][0]["smallest_difference"] is None


def test_what_a_number_of_questions_shows_takes_that_number() -> None:
    shown = smallest_difference(0.3, 60, 0.05)
    assert shown is not None
    assert questions_for(shown * 1.0001, 0.3, 0.05) == 60


def test_equal_shares_are_equal_where_the_interval_of_90_percent_is_within() -> None:
    low, high = score_interval(*counts(4, 6, 100), stats.norm.isf(0.05))
    widest = max(-low[0], high[0])
    assert equal_shares(*counts(4, 6, 100), np.array([widest]))[0] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.slow
def test_nothing_between_two_systems_is_no_proof_that_they_are_equal() -> None:
    systems = [system("a", {"m": [0.5] * 20}), system("b", {"m": [0.5] * 20})]
    (pair,) = compare(systems, margin=0.05)["pairs"]
    assert pair["verdict"] == "no significant difference"
    (pair,) = compare(systems, margin=0.3)["pairs"]
    assert pair["verdict"] == "equal to within 0.3"


def test_where_few_questions_differ_the_interval_does_not_pretend() -> None:
    one = [0.5] * 58 + [0.9, 0.8]
    (pair,) = compare([system("a", {"m": one}), system("b", {"m": [0.5] * 60})])["pairs"]
    # No question was lost; of 60, a share of 4 % could be: Jeffreys' interval of 0 in 60.
    assert pair["low"] == pytest.approx(-stats.beta.ppf(0.975, 0.5, 60.5), abs=0.016)
    assert pair["low"] < 0 < pair["high"]


@pytest.mark.parametrize("values", [[-0.5], [-0.5, -0.5], [-0.5, 0.25]])
def test_few_values_below_0_have_an_interval_that_does_not_pretend(values: list[float]) -> None:
    systems = [system("a", {"m": values}), system("b", {"m": [-0.1] * len(values)})]
    found = compare(systems)["systems"][0]["measures"]["m"]
    assert found["low"] <= found["mean"] <= found["high"]
    assert found["high"] - found["low"] > 0.4


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("within", "equal"), [(0.2, False), (0.25, False), (0.5, True)])
def test_systems_that_differ_by_the_same_everywhere_are_equal_to_within_more_alone(
    within: float, equal: bool
) -> None:
    systems = [system("a", {"m": [0.5] * 20}), system("b", {"m": [0.25] * 20})]
    (pair,) = compare(systems, margin=within)["pairs"]
    assert (pair["p_equal"] <= 0.05) == equal


@pytest.mark.slow
def test_amounts_are_compared_alike_in_any_unit_and_no_0_has_a_sign() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.gamma(2.0, 0.003, 60), rng.gamma(2.0, 0.004, 60)

    def compared(unit: float) -> dict[str, float]:
        values = ({"usd": (x * unit).tolist(), "calls": [1.0] * 60} for x in (a, b))
        result = compare([system(name, own) for name, own in zip("ab", values, strict=True)])
        usd, calls = result["pairs"]
        assert math.copysign(1, calls["difference"]) == 1
        return {name: usd[name] for name in ("difference", "low", "high", "p")}

    dollars, mills = compared(1.0), compared(1000.0)
    for name in ("difference", "low", "high"):
        assert mills[name] == pytest.approx(1000 * dollars[name], rel=1e-6)
    assert mills["p"] == dollars["p"]
    assert -b.max() < dollars["low"] < 0 < dollars["high"] + b.max()
    assert dollars["high"] - dollars["low"] < 0.01


@pytest.mark.parametrize("seed", range(20))
def test_swapping_two_systems_swaps_the_result_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    own = rng.beta(0.5, 0.8, (2, int(rng.integers(2, 60)))).round(2).tolist()
    a, b = (system(name, {"m": values}) for name, values in zip("ab", own, strict=True))
    (first,), (second,) = compare([a, b])["pairs"], compare([b, a])["pairs"]
    for name in ("p", "p_holm", "verdict"):
        assert first[name] == second[name]
    turned = [-second[name] for name in ("difference", "high", "low")]
    assert [first[name] for name in ("difference", "low", "high")] == turned


def test_an_undefined_value_is_left_out_and_never_0() -> None:
    a, b = graded(1), graded(2)
    full = compare([system("a", {"m": a[:50]}), system("b", {"m": b[:50]})])["pairs"][0]
    gaps = [system("a", {"m": [*a[:50], *[np.nan] * 10]}), system("b", {"m": [*b[:50], *b[50:]]})]
    part = compare(gaps)["pairs"][0]
    assert part["n"] == 50
    assert [part[k] for k in ("difference", "low", "high", "p")] == [
        full[k] for k in ("difference", "low", "high", "p")
    ]


def test_systems_share_a_letter_just_where_they_cannot_be_told_apart() -> None:
    """The example of Piepho's paper in small: b between a and c, of which only a and c differ."""
    different = {frozenset("ac")}
    assert letters(["a", "b", "c"], different) == {"a": "a", "b": "ab", "c": "b"}
    ranks = rank_ranges({"a": 0.9, "b": 0.8, "c": 0.7}, different)
    assert ranks == {"a": (1, 2), "b": (1, 3), "c": (2, 3)}


@given(st.integers(1, 12), st.sets(st.frozensets(st.integers(0, 11), min_size=2, max_size=2)))
def test_letters_are_the_largest_sets_of_systems_that_do_not_differ(
    n: int, pairs: set[frozenset[int]]
) -> None:
    names = [f"s{i}" for i in range(n)]
    differ = {frozenset(f"s{i}" for i in pair) for pair in pairs if max(pair) < n}
    found = letters(names, differ)
    alike = nx.Graph()
    alike.add_nodes_from(names)
    alike.add_edges_from(p for p in itertools.combinations(names, 2) if frozenset(p) not in differ)
    sets = {frozenset(n for n in names if letter in found[n]) for letter in "".join(found.values())}
    assert sets == set(map(frozenset, nx.find_cliques(alike)))


def test_latex_marks_what_each_system_is_significantly_better_than() -> None:
    rng = np.random.default_rng(5)
    worst = list(rng.uniform(0, 0.3, 80))
    middle, best = ([value + gain for value in worst] for gain in (0.2, 0.4))
    noise = [float(value) for value in rng.uniform(0, 1, 80)]
    values = {"worst": worst, "best": best, "middle": middle}
    systems = [system(name, {"m": own, "other": noise}) for name, own in values.items()]
    text = shown(compare(systems, (), "m"), "latex")
    cells = [[cell.strip(" \\") for cell in line.split("&")] for line in text.split("\n")]
    rows = {row[0]: row[1:] for row in cells if len(row) == 4}
    mean = {name: f"{np.mean(own):.4f}" for name, own in values.items()}
    same = f"{np.mean(noise):.4f}"
    assert rows == {
        "system": ["#", "m", "other"],
        "best": ["a", f"{mean['best']}$^{{bc}}$", same],
        "middle": ["b", f"{mean['middle']}$^{{c}}$", same],
        "worst": ["c", mean["worst"], same],
    }
    # The lists of questions are left out.
    assert "question_id" not in text


def test_no_name_is_an_argument_of_the_end_of_a_row_in_latex() -> None:
    text = shown(compare([system(name, {"m": graded(1)}) for name in ("*a", "[b]")]), "latex")
    assert "{}*a" in text
    assert "{}[b]" in text
    assert not re.search(r"^ *[\[*]", text, re.MULTILINE)


def test_a_tie_that_decides_more_than_the_systems_do_is_said() -> None:
    tied = {"m": {"low": 0.1, "high": 0.9}}
    systems = [system("a", {"m": graded(1)}, tie_range=tied), system("b", {"m": graded(2)})]
    (pair,) = compare(systems)["pairs"]
    assert "a from 0.1000 to 0.9000" in pair["ties"]


@pytest.mark.parametrize(("n", "verdict"), [(5, "undecided"), (6, "a better")])
def test_too_few_questions_for_any_p_leave_it_undecided(n: int, verdict: str) -> None:
    """Two to the power of 5 ways to change signs, of which two are as extreme as all of them."""
    result = compare([system("a", {"m": [0.5] * n}), system("b", {"m": [0.4] * n})])
    [pair] = result["pairs"]
    assert pair["least_p"] == 2 / 2**n
    assert pair["p"] == pytest.approx(2 / 2**n)
    assert pair["verdict"] == verdict
    assert ("p cannot be below 0.0625" in shown(result, "table")) == (n == 5)


def test_an_interval_that_ends_at_zero_ends_at_zero() -> None:
    ends = [score_interval(*counts(m, 0, 30), z=Z) for m in range(9)]
    assert all(end == 0 or abs(end) > 1e-12 for pair in ends for (end,) in pair)


def test_the_questions_that_moved_are_those_that_differ_the_largest_difference_first() -> None:
    values = {"a": [0.5, 0.0, 1.0, 0.2, math.nan], "b": [0.3, 1.0, 0.1, 0.2, 1.0]}
    moved = compare([system(name, {"m": column}) for name, column in values.items()])["moved"]
    assert moved["b_better"] == [{"question_id": "q00001", "question": "", "a": 0.0, "b": 1.0}]
    assert [row["question_id"] for row in moved["a_better"]] == ["q00002", "q00000"]


def test_percentages_are_compared_as_shares_are() -> None:
    shares = {"a": graded(1), "b": graded(2)}
    (one,) = compare([system(n, {"m": v}) for n, v in shares.items()], margin=0.3)["pairs"]
    percents = [system(n, {"m": [100 * x for x in v]}) for n, v in shares.items()]
    (other,) = compare(percents, margin=30)["pairs"]
    for name in ("p", "p_equal"):
        assert other[name] == pytest.approx(one[name])
    for name in ("difference", "low", "high"):
        assert other[name] == pytest.approx(100 * one[name])


@pytest.mark.parametrize("kind", kinds())
@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("n", [5, 12, pytest.param(60, marks=pytest.mark.slow)])
def test_p_and_interval_never_contradict(kind: str, clustered: bool, n: int) -> None:
    rng = np.random.default_rng(len(kind) + n)
    d = kinds()[kind](rng, (n, 20))
    clusters = rng.integers(0, max(2, n // 3), n) if clustered else None
    values = {"m": np.column_stack([np.zeros(n), d])}
    for one_sided in (False, True):
        frame = pairs_of(values, [f"s{i}" for i in range(21)], 999, None, clusters, one_sided)
        known = frame.dropna(subset=["low"])
        assert len(known) > 20
        sure = known["p"] <= 0.05
        excluded = (known["high"] < 0) if one_sided else (known["low"] > 0) | (known["high"] < 0)
        assert (sure == excluded).all()
        assert (known["low"] <= known["high"]).all()


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize(("kind", "truth"), [("thirds", 0.1 / 3), ("one-sided", 0.075)])
def test_intervals_of_graded_differences_hold_and_are_about_as_wide_as_students(
    kind: str, truth: float, n: int
) -> None:
    d = kinds()[kind](np.random.default_rng(n + 99), (n, 400))
    d = d[:, d.std(axis=0) > 0]
    found = of_means(d, np.zeros_like(d), 9999)
    assert np.mean((found["low"] <= truth) & (truth <= found["high"])) >= 0.93
    t = 2 * stats.t.isf(0.025, n - 1) * stats.sem(d)
    assert np.median((found["high"] - found["low"]) / t) <= {20: 1.5, 60: 1.25}[n]


def test_amounts_have_no_upper_end() -> None:
    tokens = np.array([120.0, 80, 100, 240, 95, 110])
    low, high = mean_interval(tokens, "tokens")
    plain = stats.t.interval(0.95, 5, loc=tokens.mean(), scale=stats.sem(tokens))
    assert (low, high) == pytest.approx(plain)
    assert mean_interval(np.full(18, 120.0), "tokens") == pytest.approx((120.0, 120.0))
    # Of a share among these measures, 1 is the upper end.
    assert mean_interval(np.ones(20), "false_refusal")[1] == 1
    values = {"seconds": np.column_stack([tokens, tokens - np.arange(6.0)])}
    (row,) = pairs_of(values, ["a", "b"], 999).to_dict("records")
    plain = stats.t.interval(0.95, 5, loc=2.5, scale=stats.sem(np.arange(6.0)))
    assert row["difference"] == pytest.approx(2.5)
    # p is .0625, so the interval holds 0.
    assert row["p"] == pytest.approx(2 / 2**5)
    assert (row["low"], row["high"]) == (0, pytest.approx(plain[1]))


def test_the_same_values_have_no_interval_and_a_share_that_may_differ_unseen() -> None:
    same = graded(1)
    result = compare([system("a", {"m": same}), system("b", {"m": same})])
    assert (result["pairs"][0]["low"], result["pairs"][0]["p"]) == (None, 1)
    text = shown(result, "table")
    assert "Up to 5 % of questions could still differ" in text
