"""Whose noise it is: the questions', the system's, or the judge's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest

from bears.evaluation.repeats import (
    PLACES,
    VarianceParts,
    asked_in,
    note,
    passes,
    repeats_of,
    said,
    variance_parts,
)
from bears.trace import Trace
from bears.types import Question


def drawn(rng: np.random.Generator, question: float, run: float, judge: float) -> np.ndarray:
    """Draw values of 60 questions with three runs, each judged twice."""
    return (
        rng.normal(0, question, (60, 1, 1))
        + rng.normal(0, run, (60, 3, 1))
        + rng.normal(0, judge, (60, 3, 2))
    )


@pytest.mark.parametrize(
    ("question", "run", "judge"), [(0.4, 0.3, 0.2), (0.1, 0.4, 0.1), (0.3, 0.1, 0.5)]
)
def test_each_part_is_near_the_truth(question: float, run: float, judge: float) -> None:
    rng = np.random.default_rng(7)
    found = [variance_parts(drawn(rng, question, run, judge)) for _ in range(400)]
    truth = {"questions": question**2 / 60, "runs": run**2 / 180, "judge": judge**2 / 360}
    whole = sum(truth.values())
    for name, true in truth.items():
        mean = np.mean([getattr(each, name) for each in found])
        # A part that hardly matters is known less well.
        assert abs(mean - true) < 0.2 * max(true, whole / 10), name


def test_intervals_from_the_parts_hold_the_true_mean() -> None:
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(2000):
        values = drawn(rng, 0.4, 0.3, 0.2)
        half = 2.0 * sum(variance_parts(values)) ** 0.5
        held += abs(values.mean()) < half
    assert 0.93 < held / 2000 < 0.97


@pytest.mark.parametrize(("a", "b", "wrong"), [(1, 1, 0.1), (0.4, 0.3, 0.2), (2, 1, 0.05)])
def test_verdicts_of_a_judge_that_errs_have_the_parts_of_their_probabilities(
    a: float, b: float, wrong: float
) -> None:
    """A question has its own chance of a right answer, and the judge errs with a fixed one."""
    rng, draws = np.random.default_rng(5), 1000
    mean = a / (a + b)
    spread = mean * (1 - mean) / (a + b + 1)
    kept = (1 - 2 * wrong) ** 2
    truth = {
        "questions": kept * spread / 60,
        "runs": kept * (mean * (1 - mean) - spread) / 180,
        "judge": wrong * (1 - wrong) / 360,
    }
    true_mean = mean * (1 - 2 * wrong) + wrong
    found, held = [], 0
    for _ in range(draws):
        right = rng.random((60, 3, 1)) < rng.beta(a, b, (60, 1, 1))
        values = (right != (rng.random((60, 3, 2)) < wrong)).astype(float)
        parts = variance_parts(values)
        found.append(parts)
        held += abs(values.mean() - true_mean) < 2.0 * sum(parts) ** 0.5
    for name, true in truth.items():
        assert np.mean([getattr(each, name) for each in found]) == pytest.approx(true, rel=0.2), (
            name
        )
    assert 0.93 < held / draws < 0.97


def test_the_parts_of_a_small_table_are_those_computed_by_hand() -> None:
    # Means by question 0, 1; mean squares 2 * 0.5 = 1 of questions and (0 + 0.02) / 2 of runs.
    values = np.array([[0.0, 0.0], [0.9, 1.1]])[:, :, None]
    parts = variance_parts(values)
    assert parts.runs == pytest.approx(0.01 / 4)
    assert parts.questions == pytest.approx((1 - 0.01) / 2 / 2)
    assert parts.judge == 0
    assert "99% of the uncertainty of x is in the questions" in said(values, "x")
    assert said(np.ones((2, 2, 1)), "x") == ""


def test_of_one_run_that_is_judged_twice_the_judge_has_a_part() -> None:
    # Means 0.5 and 1: mean squares 2 * 0.125 of questions and (0.5 + 0) / 2 of judgements.
    values = np.array([[[0.0, 1.0]], [[1.0, 1.0]]])
    assert variance_parts(values) == VarianceParts(0, 0, 0.25 / 4)


@pytest.mark.parametrize(
    ("question", "run", "judge"),
    [(0.5, 0.1, 0.01), (0.1, 0.5, 0.05), (0.1, 0.1, 0.9), (0.4, 0.3, 0.3), (0.3, 0.6, 0.05)],
)
def test_what_is_said_to_halve_the_variance_halves_it_and_nothing_less_does(
    question: float, run: float, judge: float
) -> None:
    values = drawn(np.random.default_rng(3), question, run, judge)
    parts, text = variance_parts(values), said(values, "x")
    # Of one question, one run, one judgement.
    q, r, j = parts.questions * 60, parts.runs * 180, parts.judge * 360

    def variance(questions: int, runs: int, judgements: int) -> float:
        return (q + r / runs + j / (runs * judgements)) / questions

    half = variance(60, 3, 2) / 2
    assert variance(120, 3, 2) == pytest.approx(half)
    assert "60 more questions halve the variance" in text
    plans: dict[str, Callable[[int], float]] = {
        "repeats": lambda more: variance(60, 3 + more, 2),
        "judgements": lambda more: variance(60, 3, 2 + more),
    }
    for word, planned in plans.items():
        if found := re.search(rf"(\d+) more {word} halve it", text):
            assert planned(int(found[1])) <= half < planned(int(found[1]) - 1)
        elif found := re.search(rf"more {word} lower it by at most (\d+)%", text):
            assert planned(10**9) / (2 * half) == pytest.approx(1 - int(found[1]) / 100, abs=0.006)
        else:
            assert f"more {word} buy nothing" in text
            assert planned(10**9) > 0.95 * 2 * half


def test_the_note_is_about_questions_that_have_all_their_repeats() -> None:
    places = [(q, r, "1") for q in "abcd" for r in "12" if (q, r) != ("d", "2")]
    index = pd.MultiIndex.from_tuples(places, names=["question_id", *PLACES])
    rows = pd.DataFrame({"answer_f1": [0.0, 0.1, 0.9, 1.0, 0.4, 0.6, 9.0]}, index=index)
    whole = rows["answer_f1"].to_numpy()[:6].reshape(3, 2, 1)
    assert note(rows, "ndcg@10") == said(whole, "answer_f1") != ""
    assert note(pd.DataFrame(), "x") == note(rows.iloc[:1], "x") == ""


@pytest.mark.parametrize("right", [*product((0.0, 1.0), repeat=4), (1.0, math.nan, 0.0, 1.0)])
def test_pass_at_k_and_pass_hat_k_are_those_of_all_ways_to_choose_k(
    right: tuple[float, ...],
) -> None:
    found, known = passes(right, 4), [value for value in right if not math.isnan(value)]
    assert list(found) == [f"pass{sign}{k}" for k in (2, 3, 4) for sign in "@^"]
    for k in (2, 3, 4):
        ways = [*combinations(known, k)]
        some, every = (
            np.mean([how(way) for way in ways]) if ways else math.nan for how in (any, all)
        )
        expected = {f"pass@{k}": some, f"pass^{k}": every}
        assert {name: found[name] for name in expected} == pytest.approx(expected, nan_ok=True)


def test_the_nth_repeat_has_the_nth_trace_and_an_unanswered_question_counts_in_all() -> None:
    given = [Trace(question_id=q, answer=a) for q, a in ("a1", "b2", "a3", "a4", "b5")]
    repeats = repeats_of(given)
    said_ = [{key: each.answer for key, each in repeat.items()} for repeat in repeats]
    assert said_ == [{"a": "1", "b": "2"}, {"a": "3", "b": "5"}, {"a": "4"}]
    asked = [Question(q, f"{q}?", "x", (), "s", "ad-hoc") for q in "abc"]
    counted = ["".join(q.question_id for q in own) for _, own in asked_in(repeats, asked)]
    assert counted == ["abc", "abc", "ac"]
    assert [own for _, own in asked_in([], asked)] == [asked]
