"""Literal rankings with the fractions that the definitions give, and where other tools differ.

Each disagreement of trec_eval (through pytrec_eval), ir_measures and ranx with METRICS.md, or with
one another, is a test: when a new version of a tool ends one, the test says so.
"""

from __future__ import annotations

import math
import random
import re
from math import log2
from pathlib import Path
from typing import Any

import ir_measures
import pandas as pd
import pytest
import pytrec_eval
from ir_measures import RR

from bears.config.typed import parse
from bears.errors import ConfigurationError, FormatError
from bears.evaluation.comparison.values import Measured, shared_measures
from bears.evaluation.evaluate import METRICS, Evaluation, evaluate, parse_measure, summarize
from bears.evaluation.metric import Metric
from bears.evaluation.settings import EvaluationSettings
from bears.files.trec import scored_run
from bears.types import Hit
from tests.measuring import (
    Gold,
    Run,
    Scores,
    Values,
    as_scores,
    by_question,
    measures,
    random_case,
    table_of_run,
)
from tests.runs import read_run


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
GOLD: Gold = {
    "tie": {"a": 1},  # c, b, a, d: third
    "graded": {"a": 1, "b": 0, "c": 3, "z": 2},
    "many": {"a": 1, "b": 1, "c": 1, "d": 1},
    "lost": {"a": 1},
    "missing": {"a": 1},
}
EXPECTED: dict[str, tuple[float, float, float, float, float]] = {
    "success@1": (0, 1, 1, 0, 0),
    "success@3": (1, 1, 1, 0, 0),
    "strict@3": (1, 0, 0, 0, 0),
    "strict@5": (1, 0, 1, 0, 0),
    "recall@2": (0, 1 / 3, 2 / 4, 0, 0),
    "recall@5": (1, 2 / 3, 4 / 4, 0, 0),
    "precision@2": (0, 1 / 2, 2 / 2, 0, 0),
    "precision@5": (1 / 5, 2 / 5, 4 / 5, 0, 0),
    "r_precision": (0, 2 / 3, 3 / 4, 0, 0),
    "mrr@2": (0, 1, 1, 0, 0),
    "mrr@3": (1 / 3, 1, 1, 0, 0),
    "mrr": (1 / 3, 1, 1, 0, 0),
    "map@2": (0, 1 / 3, 2 / 4, 0, 0),
    "map": (1 / 3, (1 + 2 / 3) / 3, (1 + 1 + 3 / 4 + 4 / 5) / 4, 0, 0),
    "map@4": (1 / 3, (1 + 2 / 3) / 3, (1 + 1 + 3 / 4) / 4, 0, 0),
    "ndcg@1": (0, 1 / 3, 1, 0, 0),
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
    evaluation = evaluate(run_of(RUN), GOLD, measures(name))
    assert evaluation.values[name] == pytest.approx(EXPECTED[name], abs=1e-15)
    mean = summarize(evaluation)[name]
    assert mean == pytest.approx(sum(EXPECTED[name]) / 5, abs=1e-13)


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        ({"tie": {"a": math.nan}}, "question 'tie', document 'a': the score nan is not finite"),
        ({"tie": {"a": -math.inf}}, "the score -inf is not finite"),
        ({f"q{n}": {"a": 1.0} for n in range(5)}, "5 questions that the gold lacks, such as 'q0'"),
    ],
)
def test_what_is_no_ranking_of_the_questions_is_refused(scores: Scores, problem: str) -> None:
    for form in (run_of, scored_run):
        with pytest.raises(FormatError, match=problem):
            evaluate(form(scores), GOLD, measures("mrr"))


def theirs(gold: Any, run: Scores, *names: str) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]]
    values = pytrec_eval.RelevanceEvaluator(gold, set(names)).evaluate(run)
    return values


def ours(gold: Gold, run: Scores, *names: str) -> dict[str, float | int | None]:
    return summarize(evaluate(table_of_run(run_of(run)), gold, measures(*names)))


def test_trec_eval_reads_32_bits_of_a_score_and_sees_more_ties() -> None:
    run = {"q": {"a": 1 + 1e-9, "b": 1.0}}
    assert theirs({"q": {"a": 1}}, run, "recip_rank")["q"]["recip_rank"] == 1 / 2
    assert ours({"q": {"a": 1}}, run, "mrr")["mrr"] == 1


def test_trec_eval_gives_0_where_all_judged_documents_are_irrelevant() -> None:
    names = ("recip_rank", "ndcg", "map", "recall.5", "P.1", "Rprec", "success.1")
    assert set(theirs({"q": {"a": 0}}, {"q": {"a": 1.0}}, *names)["q"].values()) == {0}
    same = ("mrr", "ndcg", "map", "recall@5", "precision@1", "r_precision")
    assert {ours({"q": {"a": 0}}, {"q": {"a": 1.0}}, *same)[name] for name in same} == {None}
    assert ours({"q": {"a": 0}}, {"q": {"a": 1.0}}, "success@1")["success@1"] == 0


@pytest.mark.parametrize("missing", [{"missing": {"a": 1}}, {"nothing": {}}])
def test_pytrec_eval_leaves_out_a_question_without_documents_or_judgements(missing: Gold) -> None:
    gold: Gold = {"q": {"a": 1}, **missing}
    run: Scores = {"q": {"a": 1.0}, **({"nothing": {}} if "nothing" in missing else {})}
    assert list(theirs(gold, run, "success.1")) == ["q"]
    right = "nothing" in missing
    assert ours(gold, run, "success@1")["success@1"] == (2 / 2 if right else 1 / 2)
    assert ours(gold, run, "mrr")["mrr"] == (1 / 1 if right else 1 / 2)


def test_ir_measures_orders_ties_in_two_ways_within_one_call() -> None:
    """RR@10 comes from another program there than RR, and that one keeps the order of the run."""
    gold, run = {"q": {"a": 1}}, {"q": {"a": 1.0, "b": 1.0}}
    values = ir_measures.calc_aggregate([RR, RR @ 10], gold, run)
    assert values == {RR: 1 / 2, RR @ 10: 1}
    assert ours(gold, run, "mrr", "mrr@10") == {"mrr": 1 / 2, "mrr@10": 1 / 2, "n": 1}


def test_a_repeated_document_is_an_error_of_pytrec_eval_and_of_ours(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 3 tag\nq Q0 b 2 2 tag\nq Q0 a 3 1 tag\n")
    with path.open() as stream, pytest.raises(AssertionError):
        pytrec_eval.parse_run(stream)
    with pytest.raises(FormatError, match=r"question 'q', document 'a' occurs more than once"):
        read_run(path, None)


@pytest.fixture(scope="module")
def ranx() -> Any:
    # To compile it takes a minute, and to interpret it two seconds.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        return pytest.importorskip("ranx", reason="ranx is only needed to compare with it")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_ranx_agrees_question_by_question_where_nothing_ties(ranx: Any) -> None:
    run, gold = random_case(random.Random(5), 300, ties=False)
    their_run = ranx.Run(as_scores(run))
    ranx.evaluate(ranx.Qrels(gold), their_run, [name for *_, name in ELSEWHERE.values()])
    evaluation = evaluate(run, gold, measures(*ELSEWHERE))
    for name, (*_, their_name) in ELSEWHERE.items():
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


ELSEWHERE = {
    "success@1": ("success_1", "Success@1", "hit_rate@1"),
    "success@5": ("success_5", "Success@5", "hit_rate@5"),
    "recall@5": ("recall_5", "R@5", "recall@5"),
    "recall@100": ("recall_100", "R@100", "recall@100"),
    "precision@5": ("P_5", "P@5", "precision@5"),
    "precision@100": ("P_100", "P@100", "precision@100"),
    "r_precision": ("Rprec", "Rprec", "r-precision"),
    "mrr@5": ("", "RR@5", "mrr@5"),
    "mrr": ("recip_rank", "RR", "mrr"),
    "ndcg@5": ("ndcg_cut_5", "nDCG@5", "ndcg@5"),
    "ndcg@10": ("ndcg_cut_10", "nDCG@10", "ndcg@10"),
    "ndcg": ("ndcg", "nDCG", "ndcg"),
    "map@5": ("map_cut_5", "AP@5", "map@5"),
    "map": ("map", "AP", "map"),
}
"""Our name, to that of pytrec_eval (it has no RR@5), of ir_measures and of ranx."""


@pytest.mark.parametrize("ties", [False, True])
def test_pytrec_eval_agrees_question_by_question(ties: bool) -> None:
    run, gold = random_case(random.Random(1), 300, ties)
    names = {name: theirs for name, (theirs, *_) in ELSEWHERE.items() if theirs}
    asked = {re.sub(r"_(\d+)$", r".\1", name) for name in names.values()}
    theirs = pytrec_eval.RelevanceEvaluator(gold, asked).evaluate(as_scores(run))
    found = evaluate(table_of_run(run), gold, measures(*names))
    ours = by_question(found.values, gold)
    assert len(theirs) == len(ours) == 300
    for question_id, values in ours.items():
        for name, their_name in names.items():
            expected = theirs[question_id][their_name]
            assert values[name] == pytest.approx(expected, abs=1e-12), (question_id, name)
    # Dictionaries in any order give the same.
    dice = random.Random(2)
    mixed = {q: dict(dice.sample([*own.items()], len(own))) for q, own in as_scores(run).items()}
    other = evaluate(scored_run(mixed), gold, measures(*names))
    for columns in ("values", "lowest", "highest"):
        for name, column in getattr(found, columns).items():
            assert getattr(other, columns)[name].tolist() == column.tolist()


def test_dictionaries_may_lack_questions_and_documents() -> None:
    expected = evaluate(table_of_run(run_of(RUN)), GOLD, measures(*EXPECTED))
    for scores in (RUN, {key: RUN[key] for key in reversed(RUN)}, {**RUN, "none": {}}):
        gold = {**GOLD, "none": {"a": 1}} if "none" in scores else GOLD
        found = evaluate(scored_run(scores), gold, measures(*EXPECTED))
        assert found.answered.sum() == expected.answered.sum()
        for name, column in expected.values.items():
            assert found.values[name][: len(column)].tolist() == column.tolist()


def test_ir_measures_agrees_and_also_counts_the_missing_questions() -> None:
    # Without ties: RR@k comes from another program there, which orders them otherwise.
    run, gold = random_case(random.Random(2), 300, ties=False)
    for question_id in list(run)[::10]:
        del run[question_id]
    asked = {name: ir_measures.parse_measure(theirs) for name, (_, theirs, _) in ELSEWHERE.items()}
    theirs = ir_measures.calc_aggregate(list(asked.values()), gold, as_scores(run))
    evaluation = evaluate(run, gold, measures(*ELSEWHERE))
    summary = summarize(evaluation)
    assert evaluation.answered.sum() == 270
    for name, measure in asked.items():
        assert summary[name] == pytest.approx(theirs[measure], abs=1e-12), name


@pytest.mark.parametrize("metric", [metric for metric in METRICS if metric.foreign])
def test_a_name_of_ir_measures_means_what_it_means_there(metric: Metric) -> None:
    run, gold = random_case(random.Random(3), 100, ties=False)
    for name in (f"{word}{k}" for word in metric.foreign for k in ("", "@1", "@5", "@100")):
        try:
            theirs = ir_measures.parse_measure(name)
            calculated = [*ir_measures.iter_calc([theirs], gold, as_scores(run))]
        except (AssertionError, KeyError, ValueError):
            with pytest.raises(ConfigurationError):
                parse_measure(name)
            continue
        measure = parse_measure(name)
        assert measure.name == f"{metric.name}{name[name.find('@') :] if '@' in name else ''}"
        expected = {each.query_id: each.value for each in calculated}
        found = evaluate(run, gold, [measure]).values[measure.name]
        assert dict(zip(gold, found, strict=True)) == pytest.approx(expected, abs=1e-12), name


def test_names_of_ir_measures_become_ours_wherever_a_measure_is_named() -> None:
    settings = EvaluationSettings(["nDCG@10", "ndcg@10", "RR"], [1], main="MAP@100")
    settings = parse(EvaluationSettings, vars(settings), "evaluate")
    assert [measure.name for measure in settings.within(100, spans=False)[0]] == ["ndcg@10", "mrr"]
    assert settings.main == "map@100"
    values = pd.DataFrame({"ndcg@10": [0.5, 1.0], "P@5": [0.2, 0.4]}, index=["q1", "q2"])
    systems = [Measured(name, "", values) for name in ("one", "other")]
    assert shared_measures(systems, ["nDCG@10", "P@5"]) == ["ndcg@10", "P@5"]
    # A name that ir_measures does not have either.
    with pytest.raises(ConfigurationError, match="unknown measure 'S@1'"):
        parse_measure("S@1")


OUR_NAMES = {
    "map": "map",
    "Rprec": "r_precision",
    "recip_rank": "mrr",
    "ndcg": "ndcg",
    "P": "precision",
    "recall": "recall",
    "success": "success",
    "ndcg_cut": "ndcg",
    "map_cut": "map",
}


def our_name(theirs: str) -> str | None:
    """Our name of a measure of trec_eval, or None if we do not have it."""
    match = re.fullmatch(r"(.*?)(?:_(\d+))?", theirs)
    assert match is not None
    word, k = match.groups()
    ours = OUR_NAMES.get(word)
    return f"{ours}@{k}" if ours and k else ours


def read_qrels(path: Path) -> Gold:
    gold: Gold = {}
    for line in path.read_text(encoding="ascii").splitlines():
        question_id, _, doc_id, grade = line.split()
        gold.setdefault(question_id, {})[doc_id] = int(grade)
    return gold


def read_values(path: Path) -> dict[str, dict[str, str]]:
    """The table that trec_eval printed: question_id or "all" to our name to four decimals."""
    table: dict[str, dict[str, str]] = {}
    for line in path.read_text(encoding="ascii").splitlines():
        theirs, question_id, value = line.split()
        if name := our_name(theirs):
            table.setdefault(question_id, {})[name] = value
    return table


def printed(values: Values) -> dict[str, str]:
    return {name: f"{value:.4f}" for name, value in values.items()}


def measured(run: Run, gold: Gold, expected: dict[str, dict[str, str]]) -> Evaluation:
    return evaluate(run, gold, measures(*expected["all"]))


def all_topics(evaluation: Evaluation) -> dict[str, str]:
    summary = summarize(evaluation)
    return printed({name: summary[name] for name in evaluation.values})


@pytest.fixture
def trec_eval(shared_data: Path) -> Path:
    return shared_data / "reference" / "trec_eval"


def test_the_published_values_of_trec_eval(trec_eval: Path) -> None:
    gold = read_qrels(trec_eval / "qrels.test")
    expected = {
        "map": ".1785",
        "r_precision": ".2174",
        "mrr": ".4064",
        "precision@5": ".2667",
        "precision@10": ".3000",
        "recall@10": ".0317",
        "ndcg": ".4021",
        "ndcg@10": ".3016",
        "map@10": ".0259",
    }
    run = read_run(trec_eval / "results.test", gold)
    values = all_topics(evaluate(run, gold, measures(*expected)))
    assert values == {name: f"0{value}" for name, value in expected.items()}


@pytest.mark.parametrize("file", ["out.test", "out.test.a"])
def test_all_topics_of_the_whole_run(trec_eval: Path, file: str) -> None:
    expected = read_values(trec_eval / file)
    gold = read_qrels(trec_eval / "qrels.test")
    evaluation = measured(read_run(trec_eval / "results.test", gold), gold, expected)
    assert all_topics(evaluation) == expected["all"]
    assert len(expected["all"]) >= 12


def test_every_topic_of_a_run_that_lacks_one(trec_eval: Path) -> None:
    """``trec_eval -q -c -M100``: topic 302 has no line in the run.

    -c averages over all judged topics (the missing one is 0), not over the answered ones; -M100
    looks at no more than 100 documents a topic. Words follow some of its tags.
    """
    expected = read_values(trec_eval / "out.test.aqcM")
    gold = read_qrels(trec_eval / "qrels.test")
    whole = read_run(trec_eval / "results.trunc", gold)
    run = {question_id: ranking[:100] for question_id, ranking in whole.items()}
    evaluation = measured(run, gold, expected)
    assert sorted(run) == ["301", "303"]
    assert evaluation.answered.sum() == 2
    assert {q: printed(values) for q, values in by_question(evaluation.values, gold).items()} == {
        question_id: expected[question_id] for question_id in ("301", "302", "303")
    }
    assert all_topics(evaluation) == expected["all"]
    assert len(expected["all"]) == 4 + 4 * 9 + 3  # whole ranking, nine cutoffs, success
