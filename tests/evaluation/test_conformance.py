"""Literal rankings with the fractions that the definitions give, and where other tools differ.

Each disagreement of trec_eval (through pytrec_eval), ir_measures and ranx with METRICS.md, or with
one another, is a test: when a new version of a tool ends one, the test says so.
"""

from __future__ import annotations

import math
import random
from math import log2
from pathlib import Path
from typing import Any

import ir_measures
import pytest
import pytrec_eval
from ir_measures import RR

from bears.errors import FormatError
from bears.evaluation.evaluate import evaluate, summarize
from bears.evaluation.measure import parse_measure
from bears.evaluation.tie_bounds import Gold
from bears.types import Hit, Run
from tests.runs import read_run

Scores = dict[str, dict[str, float]]


def run_of(scores: Scores) -> Run:
    return {
        question_id: tuple(map(Hit._make, hits.items())) for question_id, hits in scores.items()
    }


# Four questions of one run: a tie, graded gold, more gold than k, gold that was not found.
RUN: Scores = {
    "tie": {"a": 2.0, "b": 2.0, "c": 2.0, "d": 1.0},
    "graded": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0},
    "many": {"a": 5.0, "b": 4.0, "x": 3.0, "c": 2.0, "d": 1.0},
    "lost": {"x": 2.0, "y": 1.0},
}
GOLD: dict[str, dict[str, int]] = {
    "tie": {"a": 1},  # c, b, a, d: third
    "graded": {"a": 1, "b": 0, "c": 3, "z": 2},
    "many": {"a": 1, "b": 1, "c": 1, "d": 1},
    "lost": {"a": 1},
    "missing": {"a": 1},
}
EXPECTED: dict[str, tuple[float, float, float, float, float]] = {
    "success@2": (0, 1, 1, 0, 0),
    "success@3": (1, 1, 1, 0, 0),
    "strict@3": (1, 0, 0, 0, 0),
    "strict@5": (1, 0, 1, 0, 0),
    "recall@2": (0, 1 / 3, 2 / 4, 0, 0),
    "recall@5": (1, 2 / 3, 4 / 4, 0, 0),
    "precision@2": (0, 1 / 2, 2 / 2, 0, 0),
    "precision@5": (1 / 5, 2 / 5, 4 / 5, 0, 0),
    "r_precision": (0, 2 / 3, 3 / 4, 0, 0),
    "mrr@2": (0, 1, 1, 0, 0),
    "mrr": (1 / 3, 1, 1, 0, 0),
    "map@2": (0, 1 / 3, 2 / 4, 0, 0),
    "map": (1 / 3, (1 + 2 / 3) / 3, (1 + 1 + 3 / 4 + 4 / 5) / 4, 0, 0),
    "ndcg@2": (0, 1 / (3 + 2 / log2(3)), 1, 0, 0),
    "ndcg": (
        1 / 2,
        (1 + 3 / 2) / (3 + 2 / log2(3) + 1 / 2),
        (1 + 1 / log2(3) + 1 / log2(5) + 1 / log2(6)) / (1 + 1 / log2(3) + 1 / 2 + 1 / log2(5)),
        0,
        0,
    ),
    "retrieval_accuracy@2": (0, 100, 100, 0, 0),
    "kor_map_official": (1 / 3, (1 + 2 / 3) / 2, 1, 0, 0),
    "kor_map_strict": (1 / 3, (1 + 2 / 3) / 3, 2 / 3, 0, 0),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_fractions_that_the_definition_gives(name: str) -> None:
    evaluation = evaluate(run_of(RUN), GOLD, [parse_measure(name)])
    assert evaluation.values[name] == pytest.approx(EXPECTED[name], abs=1e-15)
    mean = summarize(evaluation)[name]
    assert mean == pytest.approx(sum(EXPECTED[name]) / 5, abs=1e-13)


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        ({"tie": {"a": math.nan}}, "question 'tie', document 'a': the score nan is not finite"),
        ({"tie": {"a": -math.inf}}, "the score -inf is not finite"),
        ({"extra": {"a": 1.0}}, "the gold lacks: 'extra'"),
    ],
)
def test_what_is_no_ranking_of_the_questions_is_refused(scores: Scores, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        evaluate(run_of(scores), GOLD, [parse_measure("mrr")])


# --- trec_eval, through pytrec_eval --------------------------------------------------------------


def theirs(gold: Any, run: Scores, *names: str) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]]
    values = pytrec_eval.RelevanceEvaluator(gold, set(names)).evaluate(run)
    return values


def ours(gold: Gold, run: Scores, *names: str) -> dict[str, float | int | None]:
    return summarize(evaluate(run_of(run), gold, list(map(parse_measure, names))))


def test_trec_eval_reads_32_bits_of_a_score_and_sees_more_ties() -> None:
    run = {"q": {"a": 1 + 1e-9, "b": 1.0}}
    assert theirs({"q": {"a": 1}}, run, "recip_rank")["q"]["recip_rank"] == 1 / 2
    assert ours({"q": {"a": 1}}, run, "mrr")["mrr"] == 1


def test_pytrec_eval_leaves_out_a_question_that_the_run_lacks() -> None:
    gold = {"q": {"a": 1}, "missing": {"a": 1}}
    assert list(theirs(gold, {"q": {"a": 1.0}}, "recip_rank")) == ["q"]
    assert ours(gold, {"q": {"a": 1.0}}, "mrr")["mrr"] == 1 / 2


def test_trec_eval_gives_0_where_all_judged_documents_are_irrelevant() -> None:
    names = ("recip_rank", "ndcg", "map", "recall.5", "P.1", "Rprec", "success.1")
    assert set(theirs({"q": {"a": 0}}, {"q": {"a": 1.0}}, *names)["q"].values()) == {0}
    same = ("mrr", "ndcg", "map", "recall@5", "precision@1", "r_precision")
    assert {ours({"q": {"a": 0}}, {"q": {"a": 1.0}}, *same)[name] for name in same} == {None}
    assert ours({"q": {"a": 0}}, {"q": {"a": 1.0}}, "success@1")["success@1"] == 0


def test_pytrec_eval_leaves_out_a_question_without_judgements_also_where_nothing_was_right() -> (
    None
):
    gold: dict[str, dict[str, int]] = {"q": {"a": 1}, "nothing": {}}
    run: Scores = {"q": {"a": 1.0}, "nothing": {}}
    assert list(theirs(gold, run, "success.1")) == ["q"]
    summary = ours(gold, run, "success@1", "mrr")
    assert (summary["success@1"], summary["mrr"]) == (2 / 2, 1 / 1)


# --- ir_measures ---------------------------------------------------------------------------------


def test_ir_measures_orders_ties_in_two_ways_within_one_call() -> None:
    """RR@10 comes from another program there than RR, and that one keeps the order of the run."""
    gold, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    values = ir_measures.calc_aggregate([RR, RR @ 10], gold, run)
    assert values == {RR: 1 / 2, RR @ 10: 1}
    assert ours(gold, run, "mrr", "mrr@10") == {"mrr": 1 / 2, "mrr@10": 1 / 2, "n": 1}


# --- Repeated documents --------------------------------------------------------------------------


@pytest.fixture
def repeated(tmp_path: Path) -> Path:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 3 tag\nq Q0 b 2 2 tag\nq Q0 a 3 1 tag\n")
    return path


def test_a_repeated_document_is_an_error_of_pytrec_eval_and_of_ours(repeated: Path) -> None:
    with repeated.open() as stream, pytest.raises(AssertionError):
        pytrec_eval.parse_run(stream)
    with pytest.raises(FormatError, match=r"line 3: question 'q' already has document 'a'"):
        read_run(repeated, None)


# --- ranx, which compiles for half a minute ------------------------------------------------------


@pytest.fixture(scope="module")
def ranx() -> Any:
    return pytest.importorskip("ranx", reason="ranx is only needed to compare with it")


NAMES = {
    "success@5": "hit_rate@5",
    "recall@5": "recall@5",
    "precision@5": "precision@5",
    "r_precision": "r-precision",
    "mrr@5": "mrr@5",
    "mrr": "mrr",
    "ndcg@5": "ndcg@5",
    "ndcg": "ndcg",
    "map@5": "map@5",
    "map": "map",
}


def random_case(questions: int) -> tuple[Scores, dict[str, dict[str, int]]]:
    """Rankings of 20 documents without ties; three judged ones in five are in them."""
    dice = random.Random(5)
    run: Scores = {}
    gold: dict[str, dict[str, int]] = {}
    for n in range(questions):
        ranked = dice.sample(range(30), 20)
        run[f"q{n}"] = {f"d{doc_id}": float(-rank) for rank, doc_id in enumerate(ranked)}
        gold[f"q{n}"] = {f"d{d}": dice.randint(1, 3) for d in dice.sample(range(50), 5)}
    return run, gold


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ranx_agrees_question_by_question_where_nothing_ties(ranx: Any) -> None:
    run, gold = random_case(300)
    their_run = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(gold), their_run, list(NAMES.values()))
    evaluation = evaluate(run_of(run), gold, list(map(parse_measure, NAMES)))
    for name, their_name in NAMES.items():
        theirs = [their_run.scores[their_name][question_id] for question_id in gold]
        assert evaluation.values[name] == pytest.approx(theirs, abs=1e-12), name


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ranx_keeps_the_order_of_insertion_in_a_tie(ranx: Any) -> None:
    qrels = ranx.Qrels({"q": {"a": 1}})
    assert ranx.evaluate(qrels, ranx.Run({"q": {"a": 1.0, "b": 1.0}}), "mrr") == 1
    assert ranx.evaluate(qrels, ranx.Run({"q": {"b": 1.0, "a": 1.0}}), "mrr") == 1 / 2
    for run in ({"q": {"a": 1.0, "b": 1.0}}, {"q": {"b": 1.0, "a": 1.0}}):
        assert ours({"q": {"a": 1}}, run, "mrr")["mrr"] == 1 / 2
