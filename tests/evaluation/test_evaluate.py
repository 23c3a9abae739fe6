"""A run against the gold: every question counts, ties are bounded, and trec_eval agrees."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import permutations
from math import log2
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from bears.config.typed import select
from bears.errors import FormatError
from bears.evaluation.evaluate import (
    Evaluation,
    ceilings,
    evaluate,
    gold_of,
    intervals,
    summarize,
    tie_range,
    undefined,
)
from bears.evaluation.measure import Measure, parse_measure
from bears.evaluation.table import table
from bears.evaluation.tie_bounds import Gold as AnyGold
from bears.files.records import write_records
from bears.files.rewritten import write_rewritten
from bears.files.trec import order, read_table
from bears.types import Asked, Document, Hit, Question, Ranking
from stages import evaluate as stage
from tests.measuring import Values, by_question, value
from tests.runs import read_run, write_run

Gold = dict[str, dict[str, int]]
Run = dict[str, Ranking]

MEASURES = [
    parse_measure(name)
    for name in (
        *("success@1", "success@3", "strict@2", "strict@5", "recall@1", "recall@3"),
        *("precision@1", "precision@3", "mrr@2", "mrr@5", "mrr", "r_precision"),
        *("ndcg@1", "ndcg@3", "ndcg@10", "ndcg", "map@2", "map@10", "map"),
        *("kor_map_strict", "retrieval_accuracy@2"),
    )
]


def test_counts_are_printed_as_counts_and_means_with_three_digits() -> None:
    everything = {"n": 12, "map": 1.0, "answered": 9}
    groups = {"all": everything, "by_type": {"yes_no": {"n": 2, "map": 0.25}}, "by_source": {}}
    records = {"name": "beir", "source": "nfcorpus, test", "state": "5e", "questions": 12}
    assert table({"benchmark": records, "retriever": "bm25", **groups}).splitlines() == [
        "bm25 on beir (nfcorpus, test), state 5e, 12 questions",
        "",
        "            all    yes_no",
        "--------  -----  --------",
        "n            12         2",
        "map       1.000     0.250",
        "answered      9         –",
    ]


def measures(*names: str) -> list[Measure]:
    return [parse_measure(name) for name in names]


def everything(evaluation: Evaluation) -> list[dict[str, list[float]]]:
    """All values, to be compared; none of them is undefined."""
    each = (evaluation.values, evaluation.lowest, evaluation.highest)
    return [{name: column.tolist() for name, column in columns.items()} for columns in each]


def ranked(*doc_ids: str) -> Ranking:
    return tuple(Hit(doc_id, float(-rank)) for rank, doc_id in enumerate(doc_ids))


# --- Every question of the gold counts -----------------------------------------------------------


def test_each_question_is_measured_on_its_own_gold() -> None:
    run = {"q1": ranked("a", "b", "c"), "q2": ranked("a", "b", "c")}
    gold = {"q1": {"b": 1}, "q2": {"a": 1, "d": 1}}
    evaluation = evaluate(run, gold, measures("mrr@10", "recall@2"))
    assert by_question(evaluation.values, gold) == {
        "q1": {"mrr@10": 1 / 2, "recall@2": 1 / 1},
        "q2": {"mrr@10": 1 / 1, "recall@2": 1 / 2},
    }
    assert summarize(evaluation) == {"mrr@10": 3 / 4, "recall@2": 3 / 4, "n": 2}


def test_a_question_that_the_run_lacks_scores_zero_and_shows_in_the_coverage() -> None:
    gold = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    evaluation = evaluate({"q1": ranked("a"), "q2": ()}, gold, MEASURES)
    assert set(by_question(evaluation.values, gold)["q2"].values()) == {0.0}
    assert set(by_question(evaluation.values, gold)["q3"].values()) == {0.0}
    assert summarize(evaluation)["mrr"] == 1 / 3
    assert evaluation.n_answered == 1


def test_a_question_that_is_not_judged_is_counted_and_neither_dropped_nor_zeroed() -> None:
    gold: AnyGold = {"q1": {"a": 1}, "q2": None, "q3": None}
    evaluation = evaluate({"q1": ranked("b", "a"), "q2": ranked("a")}, gold, MEASURES)
    assert set(by_question(evaluation.values, gold)["q2"].values()) == {None}
    assert set(by_question(evaluation.values, gold)["q3"].values()) == {None}
    summary = summarize(evaluation)
    assert (summary["mrr"], summary["n"], summary["n_undefined"]) == (1 / 2, 3, 2)
    assert undefined(evaluation) == {measure.name: 2 for measure in MEASURES}
    assert evaluation.n_answered == 2


def test_where_nothing_is_relevant_an_empty_ranking_is_right_also_a_missing_one() -> None:
    gold: Gold = {"q1": {}, "q2": {"a": 0}, "q3": {}, "q4": {"a": 1}}
    run = {"q1": ranked("a"), "q2": (), "q4": ranked("b")}
    names = ("success@3", "strict@3", "kor_map_official", "kor_map_strict", "ndcg@3", "recall@3")
    evaluation = evaluate(run, gold, measures(*names))
    for name in names[:4]:
        assert [row[name] for row in by_question(evaluation.values, gold).values()] == [0, 1, 1, 0]
    for name in names[4:]:
        assert [row[name] for row in by_question(evaluation.values, gold).values()] == [
            None,
            None,
            None,
            0,
        ]
    assert undefined(evaluation) == {"ndcg@3": 3, "recall@3": 3}
    assert summarize(evaluation)["success@3"] == 2 / 4
    assert summarize(evaluation)["ndcg@3"] == 0


def test_the_gold_of_questions_tells_unknown_from_none() -> None:
    questions = [
        asked_of("q1", ("a", "b")),
        asked_of("q2", ("a", "b"), gold_grades=(2, 1)),
        asked_of("q3", ()),
        asked_of("q4", (), judged=False),
    ]
    assert gold_of(questions) == {
        "q1": {"a": 1, "b": 1},
        "q2": {"a": 2, "b": 1},
        "q3": {},
        "q4": None,
    }


def test_a_mean_over_no_defined_value_is_none() -> None:
    gold: Gold = {"q1": {"a": 1}, "q2": {}}
    evaluation = evaluate({"q1": ranked("a")}, gold, measures("mrr"))
    chosen = np.array([False, True])
    assert summarize(evaluation, chosen) == {"mrr": None, "n": 1, "n_undefined": 1}
    assert summarize(evaluation, chosen & False) == {"mrr": None, "n": 0}


def test_the_ceiling_is_what_a_perfect_run_reaches() -> None:
    gold: AnyGold = {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 2}, "q3": {}, "q4": None}
    names = ("strict@2", "strict@3", "recall@2", "precision@2", "ndcg@2", "retrieval_accuracy@1")
    assert ceilings(gold, measures(*names)) == {
        "strict@2": (0 + 1 + 1) / 3,
        "recall@2": (2 / 3 + 1) / 2,
        "precision@2": (1 + 1 / 2) / 2,
    }


def test_measures_that_say_yes_or_no_have_an_interval() -> None:
    gold = {f"q{n}": {"a": 1} for n in range(60)}
    run = {f"q{n}": ranked("a" if n < 48 else "b") for n in range(60)}
    evaluation = evaluate(run, gold, measures("success@1", "mrr"))
    found = intervals(evaluation, measures("success@1", "mrr"))
    assert {name: (f"{r['low']:.2f}", f"{r['high']:.2f}") for name, r in found.items()} == {
        "success@1": ("0.68", "0.88")
    }
    unknown = evaluate({}, {"q1": None}, measures("success@1"))
    assert intervals(unknown, measures("success@1")) == {}


def test_grades_of_zero_and_below_are_not_relevant() -> None:
    run = {"q1": ranked("a", "b", "c")}
    strange = evaluate(run, {"q1": {"a": 0, "b": -1, "c": 2}}, MEASURES)
    assert everything(strange) == everything(evaluate(run, {"q1": {"c": 2}}, MEASURES))


def test_a_question_that_the_gold_lacks_is_refused() -> None:
    run = {f"q{n}": ranked("a") for n in range(1, 7)}
    with pytest.raises(FormatError, match="'q2', 'q3', 'q4' and 2 more"):
        evaluate(run, {"q1": {"a": 1}}, MEASURES)


def test_the_order_of_the_questions_never_reaches_a_mean() -> None:
    dice = random.Random(3)
    run, gold = random_case(dice, n_questions=200)
    summary = summarize(evaluate(run, gold, MEASURES))
    shuffled = list(gold)
    dice.shuffle(shuffled)
    again = evaluate(run, {question_id: gold[question_id] for question_id in shuffled}, MEASURES)
    assert summarize(again) == summary


def test_a_shuffled_ranking_scores_the_same(tmp_path: Path) -> None:
    dice = random.Random(4)
    run, gold = random_case(dice, n_questions=20)
    path = tmp_path / "run.trec"
    write_run(path, run, "bears")
    lines = path.read_bytes().splitlines(keepends=True)
    dice.shuffle(lines)
    path.write_bytes(b"".join(lines))
    expected = everything(evaluate(run, gold, MEASURES))
    assert everything(evaluate(read_run(path, gold), gold, MEASURES)) == expected
    assert everything(evaluate(read_table(path, gold), gold, MEASURES)) == expected
    backwards = {question_id: ranking[::-1] for question_id, ranking in run.items()}
    assert everything(evaluate(backwards, gold, MEASURES)) == expected


# --- Ties ----------------------------------------------------------------------------------------


def test_a_tie_is_broken_by_descending_id_and_bounded_by_both_orders() -> None:
    run = {"q1": (Hit("x", 2.0), Hit("b", 1.0), Hit("a", 1.0))}
    evaluation = evaluate(run, {"q1": {"a": 1}}, measures("mrr", "success@2", "recall@3"))
    assert evaluation.values == {"mrr": [1 / 3], "success@2": [0], "recall@3": [1]}
    assert evaluation.lowest == evaluation.values
    assert evaluation.highest == {"mrr": [1 / 2], "success@2": [1], "recall@3": [1]}
    assert tie_range(evaluation) == {
        "mrr": {"low": 1 / 3, "high": 1 / 2},
        "success@2": {"low": 0, "high": 1},
    }


def test_ties_across_questions_are_averaged_over_all_questions() -> None:
    tied = (Hit("a", 1.0), Hit("b", 1.0))
    gold: Gold = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"a": 1}, "q4": {}}
    evaluation = evaluate({"q1": tied, "q2": tied}, gold, measures("mrr"))
    assert summarize(evaluation)["mrr"] == (1 / 2 + 1 + 0) / 3
    assert tie_range(evaluation) == {
        "mrr": {"low": (1 / 2 + 1 / 2 + 0) / 3, "high": (1 + 1 + 0) / 3}
    }


def test_the_official_korean_map_has_no_bounds_since_a_better_order_may_lower_it() -> None:
    assert value("kor_map_official", [1, 0, 0, 1], [1, 1]) == 1
    assert value("kor_map_official", [1, 0, 1, 0], [1, 1]) == (1 + 2 / 3) / 2
    run = {"q": (Hit("a", 4.0), Hit("b", 3.0), Hit("d", 2.0), Hit("c", 2.0))}
    evaluation = evaluate(run, {"q": {"a": 1, "c": 1}}, measures("kor_map_official", "map"))
    assert evaluation.lowest["kor_map_official"] == [1]
    assert list(tie_range(evaluation)) == ["map"]
    assert evaluation.highest == {"kor_map_official": [1], "map": [(1 + 2 / 3) / 2]}


def tie_bounds(ranking: Ranking) -> Iterator[list[str]]:
    """Every order of the documents in which no score rises."""
    for order_ in permutations(ranking):
        scores = [hit.score for hit in order_]
        if scores == sorted(scores, reverse=True):
            yield [hit.doc_id for hit in order_]


@given(
    scores=st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=6),
    grade_of=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), max_size=8),
)
def test_the_bounds_are_those_of_trying_every_order(
    scores: list[float], grade_of: dict[str, int]
) -> None:
    ranking = tuple(Hit(doc_id, score) for doc_id, score in zip("abcdef", scores, strict=False))
    evaluation = evaluate({"q": ranking}, {"q": grade_of}, MEASURES)
    judged = [grade for grade in grade_of.values() if grade > 0]
    for measure in MEASURES:
        low, own, high = (
            by_question(columns, "q")["q"][measure.name]
            for columns in (evaluation.lowest, evaluation.values, evaluation.highest)
        )
        tried = [
            value(measure.name, [grade_of.get(doc_id, 0) for doc_id in doc_ids], judged)
            for doc_ids in tie_bounds(ranking)
        ]
        if low is None or own is None or high is None:
            assert set(tried) == {None}
            continue
        values = [each for each in tried if each is not None]
        assert low == pytest.approx(min(values), abs=1e-12)
        assert high == pytest.approx(max(values), abs=1e-12)
        assert low <= own <= high


# --- The stage -----------------------------------------------------------------------------------


ASKED = ("success@1", "strict@1", "ndcg@2", "kor_map_strict")


def evaluated(
    folder: Path,
    questions: list[Question],
    measures: Sequence[str] = ASKED,
    depth: int = 100,
    **runs: Run,
) -> dict[str, Any]:
    """metrics/retrieval.json of a stage that is run by itself."""
    write_records(folder / "queries.json", questions)
    write_records(folder / "corpus.json", [Document("a", "text", "source", "a", True)])
    asked = (Asked(each.question_id, each.question, search=True) for each in questions)
    write_rewritten(folder / "rewritten.jsonl", asked)
    names = (
        "queries.json",
        "corpus.json",
        "rewritten.jsonl",
        "questions.csv",
        "metrics.json",
        "curve.csv",
        "bars.csv",
        "timing",
    )
    paths = {name.split(".")[0]: folder / name for name in names}
    for name, run in runs.items():
        paths[name] = folder / f"{name}.trec"
        write_run(paths[name], run, "tag")
    evaluated = {"measures": list(measures), "curve": [1, 2]}
    whole = {"name": "small"}, {"source": {"name": "source", "path": "/some/where", "split": "dev"}}
    keys = ("benchmark", "sources", "evaluate", "retrieve", "ledger")
    rest: tuple[dict[str, Any], ...] = (
        evaluated,
        {"depth": depth, "score_threshold": 0.0},
        {"judgements": []},
    )
    config = dict(zip(keys, (*whole, *rest), strict=True))
    stage.main(select(stage.EvaluateKeys, config), paths)
    results: dict[str, Any] = json.loads(paths["metrics"].read_bytes())
    return results


def curve_of(folder: Path) -> list[tuple[str, str, str]]:
    """k, recall and retriever of each point; the interval holds the recall."""
    with (folder / "curve.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert all(float(row["low"]) <= float(row["recall"]) <= float(row["high"]) for row in rows)
    return [(row["k"], row["recall"], row["retriever"]) for row in rows]


def asked_of(question_id: str, gold: tuple[str, ...], **more: Any) -> Question:
    return Question(question_id, "?", "", gold, "source", "ad-hoc", **more)


def test_a_run_is_not_measured_deeper_than_it_was_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions, measures = [asked_of("q1", ("a", "b"))], ["recall@1", "recall@2", "map"]
    cut = evaluated(tmp_path, questions, measures, 1, run={"q1": ranked("a")})
    assert {"recall@1", "map"} <= cut["all"].keys()
    assert "recall@2" not in cut["all"]
    assert "not measured: recall@2, since retrieve.depth is 1" in capsys.readouterr().out
    assert curve_of(tmp_path) == [("1", "0.5", "run")]
    # A run from elsewhere may be deeper than ours.
    deeper = evaluated(tmp_path, questions, measures, 1, run={"q1": ranked("a", "b")})
    assert deeper["all"]["recall@2"] == 1
    assert "not measured: recall" not in capsys.readouterr().out


def test_questions_of_a_group_are_measured_within_it_as_well(tmp_path: Path) -> None:
    questions = [asked_of("q1", ("a",), group="paper"), asked_of("q2", ("b",))]
    pool = {"q1": ranked("x", "a"), "q2": ranked("b")}
    results = evaluated(tmp_path, questions, run=pool, within={**pool, "q1": ranked("a")})
    assert (results["all"]["success@1"], results["within"]["all"]["success@1"]) == (1 / 2, 1)
    of_the_pool = {"within", "benchmark", "retriever", "measured", "judged@10", "unjudged@10"}
    assert results["within"].keys() == results.keys() - of_the_pool
    header, row, _ = (tmp_path / "questions.csv").read_text().splitlines()
    assert dict(zip(header.split(","), row.split(","), strict=True)) == {
        "question_id": "q1",
        "source_dataset": "source",
        "question_type": "ad-hoc",
        "n_gold": "1",
        "success@1": "0.0",
        "strict@1": "0.0",
        "ndcg@2": str(1 / log2(3)),
        "kor_map_strict": "0.5",
        "within success@1": "1.0",
        "within strict@1": "1.0",
        "within ndcg@2": "1.0",
        "within kor_map_strict": "1.0",
    }


def test_unknown_gold_no_gold_grades_and_ceilings_reach_the_metrics(tmp_path: Path) -> None:
    questions = [
        asked_of("q1", ("a", "b"), gold_grades=(1, 3)),
        asked_of("q2", ()),
        asked_of("q3", (), judged=False),
    ]
    run = {"q1": ranked("a", "b"), "q3": ranked("a")}
    results = evaluated(tmp_path, questions, run=run)
    graded = (1 + 3 / log2(3)) / (3 + 1 / log2(3))
    assert results["all"] == {
        "success@1": 1,
        "strict@1": 1 / 2,
        "ndcg@2": pytest.approx(graded, abs=1e-15),
        "kor_map_strict": 1,
        "n": 3,
        "n_undefined": 2,
        "answered": 2,
    }
    undefined_in = {"success@1": 1, "strict@1": 1, "ndcg@2": 2, "kor_map_strict": 1}
    assert results["undefined"] == undefined_in
    assert results["ceiling"] == {"strict@1": 1 / 2}
    assert curve_of(tmp_path) == [("1", "0.5", "run"), ("2", "1.0", "run")]
    assert (tmp_path / "questions.csv").read_text().splitlines()[3].endswith(",0,,,,")


# --- Agreement with trec_eval, through pytrec_eval and ir_measures -------------------------------


def random_case(dice: random.Random, n_questions: int, ties: bool = True) -> tuple[Run, Gold]:
    """Rankings of up to 15 documents, with gold that is partly absent from them.

    pytrec_eval keeps scores in 32 bits; these are exact in them, so that both see the same ties.
    """
    documents = [f"d{n}" for n in range(12)] + ["文件", "\uff21", "\U0001f43b"]
    run: Run = {}
    gold: Gold = {}
    for n in range(n_questions):
        found = dice.sample(documents, dice.randint(1, len(documents)))
        scores = [dice.randint(0, 6) / 4 for _ in found] if ties else range(len(found))
        run[f"q{n}"] = order(map(Hit, found, map(float, scores)))
        judged = dice.sample([*documents, "lost1", "lost2"], dice.randint(1, 8))
        gold[f"q{n}"] = {doc_id: dice.randint(0, 3) for doc_id in judged} | {judged[0]: 1}
    return run, gold


def as_scores(run: Run) -> dict[str, dict[str, float]]:
    return {
        question_id: {hit.doc_id: hit.score for hit in ranking}
        for question_id, ranking in run.items()
    }


PYTREC_EVAL = {
    "success@1": "success_1",
    "success@5": "success_5",
    "recall@3": "recall_3",
    "recall@100": "recall_100",
    "precision@5": "P_5",
    "precision@100": "P_100",
    "r_precision": "Rprec",
    "mrr": "recip_rank",
    "ndcg@3": "ndcg_cut_3",
    "ndcg@10": "ndcg_cut_10",
    "ndcg": "ndcg",
    "map@3": "map_cut_3",
    "map": "map",
}


@pytest.mark.parametrize("ties", [False, True])
def test_pytrec_eval_agrees_question_by_question(ties: bool) -> None:
    run, gold = random_case(random.Random(1), 300, ties)
    asked = {re.sub(r"_(\d+)$", r".\1", name) for name in PYTREC_EVAL.values()}
    theirs = pytrec_eval.RelevanceEvaluator(gold, asked).evaluate(as_scores(run))
    ours = by_question(evaluate(run, gold, measures(*PYTREC_EVAL)).values, gold)
    assert len(theirs) == len(ours) == 300
    for question_id, values in ours.items():
        for name, their_name in PYTREC_EVAL.items():
            expected = theirs[question_id][their_name]
            assert values[name] == pytest.approx(expected, abs=1e-12), (question_id, name)


IR_MEASURES = {
    "success@5": "Success@5",
    "recall@5": "R@5",
    "precision@5": "P@5",
    "r_precision": "Rprec",
    "mrr@5": "RR@5",
    "mrr": "RR",
    "ndcg@5": "nDCG@5",
    "ndcg": "nDCG",
    "map@5": "AP@5",
    "map": "AP",
}


def test_ir_measures_agrees_and_also_counts_the_missing_questions() -> None:
    # Without ties: RR@k comes from another program there, which orders them otherwise.
    run, gold = random_case(random.Random(2), 300, ties=False)
    for question_id in list(run)[::10]:
        del run[question_id]
    asked = {name: ir_measures.parse_measure(theirs) for name, theirs in IR_MEASURES.items()}
    theirs = ir_measures.calc_aggregate(list(asked.values()), gold, as_scores(run))
    evaluation = evaluate(run, gold, measures(*IR_MEASURES))
    summary = summarize(evaluation)
    assert evaluation.n_answered == 270
    for name, measure in asked.items():
        assert summary[name] == pytest.approx(theirs[measure], abs=1e-12), name


# --- trec_eval's own test ------------------------------------------------------------------------

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
    assert evaluation.n_answered == 2
    assert {q: printed(values) for q, values in by_question(evaluation.values, gold).items()} == {
        question_id: expected[question_id] for question_id in ("301", "302", "303")
    }
    assert all_topics(evaluation) == expected["all"]
    assert len(expected["all"]) == 4 + 4 * 9 + 3  # whole ranking, nine cutoffs, success
