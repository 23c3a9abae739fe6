"""A run against the gold: every question counts, ties are bounded, and trec_eval agrees."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.config.typed import configured
from bears.evaluation.clusters import clusters_of
from bears.evaluation.evaluate import (
    Evaluation,
    ceilings,
    evaluate,
    gold_of,
    intervals,
    parse_measure,
    summarize,
    tie_range,
    undefined,
)
from bears.evaluation.results import table, write_values
from bears.evaluation.tie_bounds import Gold as AnyGold
from bears.files.chunk_run import chunk_run_writer
from bears.files.records import write_records
from bears.files.rewritten import write_rewritten
from bears.files.trec import read_table
from bears.results.values import read_values
from bears.types import Chunk, Document, Hit, Question, Ranking, RewrittenQuestion, chunks_in_order
from stages import evaluate as stage
from tests.measuring import Gold, Run, by_question, measures, random_case, value
from tests.runs import read_run, write_run

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
    types = {"yes_no": {"n": 2, "map": 0.25}, "other": {"n": 10, "map": 1.0}}
    # The only source has all questions, and no column.
    groups = {"all": everything, "by_type": types, "by_source": {"one": everything}}
    records = {"name": "beir", "source": "nfcorpus, test", "state": "5e", "questions": 12}
    assert table({"benchmark": records, "retriever": "bm25", **groups}).splitlines() == [
        "bm25 on beir (nfcorpus, test), state 5e, 12 questions",
        "",
        "            all    yes_no    other",
        "--------  -----  --------  -------",
        "n            12         2       10",
        "map       1.000     0.250    1.000",
        "answered      9         –        –",
    ]


def everything(evaluation: Evaluation) -> list[dict[str, list[float]]]:
    """All values, to be compared; none of them is undefined."""
    each = (evaluation.values, evaluation.lowest, evaluation.highest)
    return [{name: column.tolist() for name, column in columns.items()} for columns in each]


def ranked(*doc_ids: str) -> Ranking:
    return tuple(Hit(doc_id, float(-rank)) for rank, doc_id in enumerate(doc_ids))


def test_a_question_that_is_not_judged_is_counted_and_neither_dropped_nor_zeroed() -> None:
    gold: AnyGold = {"q1": {"a": 1}, "q2": None, "q3": None}
    evaluation = evaluate({"q1": ranked("b", "a"), "q2": ranked("a")}, gold, MEASURES)
    assert set(by_question(evaluation.values, gold)["q2"].values()) == {None}
    assert set(by_question(evaluation.values, gold)["q3"].values()) == {None}
    summary = summarize(evaluation)
    assert (summary["mrr"], summary["n"], summary["n_undefined"]) == (1 / 2, 3, 2)
    assert undefined(evaluation) == {measure.name: 2 for measure in MEASURES}
    assert evaluation.answered.sum() == 2


def test_where_nothing_is_relevant_an_empty_ranking_is_right_also_a_missing_one() -> None:
    gold: Gold = {"q1": {}, "q2": {"a": 0}, "q3": {}, "q4": {"a": 1}}
    run = {"q1": ranked("a"), "q2": (), "q4": ranked("b")}
    names = ("success@3", "strict@3", "kor_map_official", "kor_map_strict", "ndcg@3", "recall@3")
    evaluation = evaluate(run, gold, measures(*names))
    for name in names[:4]:
        assert [row[name] for row in by_question(evaluation.values, gold).values()] == [0, 1, 1, 0]
    for name in names[4:]:
        column = [row[name] for row in by_question(evaluation.values, gold).values()]
        assert column == [None, None, None, 0]
    assert undefined(evaluation) == {"ndcg@3": 3, "recall@3": 3}
    assert evaluation.answered.sum() == 2
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


@pytest.mark.slow
@given(
    scores=st.lists(st.sampled_from([0.0, 0.5, 1.0]), max_size=5),
    grade_of=st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3), max_size=8),
)
def test_the_bounds_are_those_of_trying_every_order(
    scores: list[float], grade_of: dict[str, int]
) -> None:
    ranking = tuple(Hit(doc_id, score) for doc_id, score in zip("abcde", scores, strict=False))
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
    asked = (RewrittenQuestion(each.question_id, each.question, search=True) for each in questions)
    write_rewritten(folder / "rewritten.jsonl", asked)
    names = ["queries.json", "corpus.json", "rewritten.jsonl", "questions.csv", "metrics.json"]
    names += ["curve.csv", "bars.csv", "timing"]
    paths = {name.split(".")[0]: folder / name for name in names}
    for name, run in runs.items():
        paths[name] = folder / f"{name}.trec"
        write_run(paths[name], run, "tag")
    config = {
        "benchmark": {"name": "small", "language": "en"},
        "chunking": {"name": "none", "_target_": "bears.retrieval.chunking.NoChunking"},
        "sources": {
            "source": {
                **{"name": "source", "path": "/some/where", "split": "dev"},
                **{"language": "en", "licence": "CC0-1.0"},
            }
        },
        "evaluate": {"measures": list(measures), "curve": [1, 2]},
        "retrieve": {"depth": depth, "score_threshold": 0.0, "ignore_identical_ids": False},
        "judgements": [],
    }
    configured(stage.main, config)(paths)
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


def test_each_chunk_is_a_source_and_takes_a_place(tmp_path: Path) -> None:
    questions = [asked_of("q1", ("b",)), asked_of("q2", ("b",)), asked_of("q3", ("a",))]
    run = {"q1": ranked("a", "b"), "q2": ranked("b"), "q3": ranked("b", "a")}
    measures = ["retrieval_accuracy@1", "retrieval_accuracy@2", "success@2", "retrieval_accuracy@3"]
    with chunk_run_writer(tmp_path / "run.chunks.parquet") as write:
        for key, doc_ids in {"q1": "aab", "q2": "bbb", "q3": "bab"}.items():
            # Two chunks of a document are two sources, as in PandaChat's lists.
            chunks = [Chunk(doc_id, 10 * at, 10 * at + 9) for at, doc_id in enumerate(doc_ids)]
            write(key, chunks_in_order(chunks))
    found = evaluated(tmp_path, questions, measures, run=run)["all"]
    for k, right in ((1, 1), (2, 2), (3, 3)):
        assert found[f"retrieval_accuracy@{k}"] == pytest.approx(100 * right / 3)
    assert (found["retrieval_accuracy@2"], found["success@2"]) == (pytest.approx(200 / 3), 1)


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


def test_the_values_of_each_question_name_its_cluster_and_compare_reads_it(tmp_path: Path) -> None:
    questions = [Question(f"q{n}", "?", "", (f"d{n % 2}",), "s", "ad-hoc") for n in range(4)]
    found = evaluate({}, gold_of(questions), [parse_measure("ndcg@10")])
    write_values(tmp_path / "v.csv", {"": found}, questions, clusters_of(questions, None))
    _, kinds = read_values(tmp_path / "v.csv", "values")
    assert kinds["cluster"].tolist() == ["0", "1", "0", "1"]
    alone = clusters_of(questions[:2], None)
    write_values(tmp_path / "v.csv", {"": found}, questions[:2] * 2, np.append(alone, alone + 2))
    assert "cluster" not in (tmp_path / "v.csv").read_text("utf-8").splitlines()[0]


@pytest.mark.parametrize(
    ("found", "recall", "ndcg"),
    [("a", 1, 1 / (1 + 0.5 / log2(3))), ("b", 0, 0.5 / (1 + 0.5 / log2(3)))],
)
def test_a_partly_relevant_document_counts_for_graded_measures_alone(
    found: str, recall: float, ndcg: float
) -> None:
    """Whether it is in the gold alone, or was found."""
    values = evaluate(
        {"q": (Hit(found, 1.0),)}, {"q": {"a": 1, "b": 0.5}}, measures("recall@10", "ndcg@10")
    ).values
    assert [values[name].item() for name in ("recall@10", "ndcg@10")] == pytest.approx(
        [recall, ndcg]
    )
