"""The library: what docs/library.md says, without DVC and outside of the project."""

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from math import log2
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.proportion import proportion_confint

import bears
from bears.errors import BearsError
from bears.files.records import write_records
from bears.types import Chunk, Hit, Span
from tests.workspace import ROOT, finished

DOCUMENTS = {"a": "Sofia is the capital of Bulgaria.", "b": "Varna lies on the Black Sea."}
ASKED: dict[str, Any] = {"question": "Capital of Bulgaria?", "documents": ["a"]}


def example() -> str:
    found = re.search(r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text("utf-8"), re.S)
    assert found
    return found[1]


@pytest.mark.parametrize(
    "overrides",
    [
        ["chunking=none"],
        ["chunking=characters", "chunking.size=15", "chunking.overlap=0"],
        ["chunking=characters", "chunking.size=20", "chunking.overlap=0"],
        ["chunking=sentences", "chunking.characters=30"],
    ],
)
@pytest.mark.parametrize(
    "other", ["manual.pdf#0-15", "manual.pdf#1-2", "manual.pdf#", "#", "手#3-9"]
)
def test_no_id_of_a_document_means_a_part_of_another_one(other: str, overrides: list[str]) -> None:
    texts = {
        "manual.pdf": "The pump is red. It runs at night. The seal is made of steel.",
        other: "Bees dance. They live in hives of wax. Nobody counts them.",
    }
    asked = [
        {"question": "What is the seal of the pump made of?", "documents": ["manual.pdf"]},
        {"question": "Where do bees live?", "documents": [other]},
    ]
    benchmark = bears.build(texts, asked, "en")
    spans = [Span("manual.pdf", 35, 61, texts["manual.pdf"][35:]), Span(other, 12, 38, "")]
    questions = [
        replace(each, gold_spans=(span,))
        for each, span in zip(benchmark.questions, spans, strict=True)
    ]
    benchmark = replace(benchmark, questions=questions)
    index = benchmark.index("bm25", *overrides)
    measures = ["ndcg@10", "span_recall@10"]
    means = benchmark.evaluate(index.chunks(questions), measures).means
    assert means["ndcg@10"] == 1
    # A small chunk may have none of the question's words.
    assert means["span_recall@10"] > 0.5
    assert benchmark.evaluate(index.run(questions), measures[:1]).means.iloc[0] == 1
    first = {each.question_id: [Chunk(i) for i in each.gold_doc_ids] for each in questions}
    assert benchmark.evaluate(first, measures).means.tolist() == [1, 1]


@pytest.mark.slow
def test_the_wheel_carries_all_that_the_example_needs(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--quiet", "--out-dir"]
    subprocess.run([*build, str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()
    alone = "import logging, pathlib, sys; sys.modules['dvc'] = None\n" + example()
    alone += "\nassert not logging.getLogger().handlers"
    alone += "\nassert {*bears.compare(scores)['verdict']} == {'undecided'}"
    alone += "\nassert not [*pathlib.Path().iterdir()]"
    alone += "\nsys.modules['torch'] = None\ntry:\n    benchmark.index('bge-m3')"
    alone += "\nexcept Exception as error:\n    print(error)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run(
        [sys.executable, "-c", alone],
        cwd=tmp_path / "empty",
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout.startswith("varna.md\nndcg@10      1.0\n"), done.stderr
    assert done.returncode == 0, done.stderr
    assert '`pip install "bears-bench[dense]"`' in done.stdout
    assert "make" not in done.stdout


@pytest.mark.slow
def test_it_measures_what_the_pipeline_measures(tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace = finished(tmp_path_factory.getbasetemp())[0]
    benchmark = bears.read(workspace.root / "data/mini/translated", "zh-Hant-TW")
    scores = benchmark.evaluate(benchmark.index("bm25").run(benchmark.questions))
    means = json.loads(workspace.text("metrics/retrieval.json"))["all"]
    assert dict(scores.means) == pytest.approx({name: means[name] for name in scores.means.index})
    again = benchmark.evaluate(workspace.root / "data/mini/runs/bm25.trec")
    pd.testing.assert_frame_equal(again.by_question, scores.by_question)


def test_the_records_of_a_project_are_read_with_its_peoples_decisions(tmp_path: Path) -> None:
    folder = tmp_path / "data/own/translated"
    own = bears.build(DOCUMENTS, [ASKED], "en")
    write_records(folder / "queries.json", own.questions)
    write_records(folder / "corpus.json", own.documents)
    (asked,) = own.questions
    run = {asked.question_id: ["b", "a"]}
    assert bears.read(folder, "en").evaluate(run, ["ndcg"]).means["ndcg"] == pytest.approx(
        1 / log2(3)
    )
    (tmp_path / "conf/ledger").mkdir(parents=True)
    (tmp_path / "conf/ledger/own.yaml").write_text(
        f"judgements: [{{question_id: {asked.question_id}, doc_id: b, decision: partial}}]\n"
    )
    # By hand: the first document has half the gain of the second.
    found = bears.read(folder, "en").evaluate(run, ["ndcg", "success@1"]).means
    gain = 0.5 + 1 / log2(3)
    assert found["ndcg"] == pytest.approx(gain / (1 + 0.5 / log2(3)))
    assert found["success@1"] == 0


def test_an_index_that_has_a_folder_stays_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    benchmark = bears.build(DOCUMENTS, [ASKED], "en")
    index = benchmark.index("bm25", "retriever.k1=1.2", folder=str(tmp_path / "index"))
    assert [hit.doc_id for hit in index.search("black sea")] == ["b"]
    del index
    assert list((tmp_path / "index").iterdir())

    monkeypatch.chdir(tmp_path)  # A hosted model is known outside of the project as well.
    with pytest.raises(BearsError, match=r"retriever\.encoder\.fill=auto"):
        benchmark.index("text-embedding-3-small")


def test_an_interval_of_amounts_has_their_unit() -> None:
    values = pd.DataFrame({"usd": np.linspace(0.001, 0.02, 60)})
    dollars = bears.Scores(values, pd.DataFrame()).intervals.to_numpy()
    cents = bears.Scores(values * 100, pd.DataFrame()).intervals.to_numpy()
    assert cents == pytest.approx(100 * dollars)
    assert 0 < dollars.min() < dollars.max() < 0.02


def test_scores_show_their_means_and_intervals_in_notebooks() -> None:
    values = pd.DataFrame({"a@1": [1.0] * 48 + [0.0] * 12, "<b>": [np.nan] * 60, "c%": [50.0] * 60})
    scores = bears.Scores(values, pd.DataFrame())
    expected = [0.8, *proportion_confint(48, 60, method="wilson")]
    assert list(scores.intervals.loc["a@1"]) == pytest.approx(expected)
    assert list(scores.intervals.index) == ["a@1", "c%"]
    assert "<th>a@1</th>" in scores._repr_html_()


def graded() -> bears.Benchmark:
    documents = {**DOCUMENTS, "c": "Rila is a mountain range of Bulgaria."}
    asked = {"question": "Bulgaria?", "documents": {"a": 1, "b": 3}}
    return bears.build(documents, [asked], "en")


@pytest.mark.parametrize(
    "ranking",
    [
        ["c", "a", "b"],
        np.array(["c", "a", "b"]),
        {"a": 0.5, "b": 0.25, "c": 1},
        [("c", 9.0), ("a", 2.0), ("b", -1.0)],
        [["c", np.float32(9)], ["a", np.int64(2)], ["b", 1]],
        [Hit("c", 3.0), Hit("a", 2.0), Hit("b", 1.0)],
    ],
)
def test_rankings_are_taken_as_people_have_them(ranking: Any) -> None:
    benchmark = graded()
    only = benchmark.questions[0].question_id
    # By hand: a (grade 1) at 2, b (grade 3) at 3, and an ideal of b, a.
    ndcg = (1 / log2(3) + 3 / 2) / (3 + 1 / log2(3))
    for run in ({only: ranking}, lambda text: ranking if text == "Bulgaria?" else []):
        means = benchmark.evaluate(run, ["ndcg@10", "mrr"]).means
        assert dict(means) == pytest.approx({"ndcg@10": ndcg, "mrr": 1 / 2})


def test_rankings_have_the_measures_of_one_search_if_asked(tmp_path: Path) -> None:
    benchmark = graded()
    only = benchmark.questions[0].question_id
    file = tmp_path / "a.trec"
    file.write_text(f"{only} Q0 c 1 2.0 tag\n{only} Q0 a 2 1.0 tag\n")
    # One of two documents is found, by the only search; its price is not known.
    expected = {"mrr": 1 / 2, "evidence_recall": 1 / 2, "searches": 1, "first_gold_search": 1}
    for run in (file, {only: {"c": 2, "a": 1}}, lambda _: ["c", "a"]):
        found = benchmark.evaluate(run, [*expected, "usd"]).by_question.loc[only]
        assert found.dropna().to_dict() == expected
        assert "usd" in found
        assert "searches" not in benchmark.evaluate(run, ["mrr"]).by_question
    for unknown in ("search", "cited_f1", "evidence_recall@5"):
        with pytest.raises(BearsError, match=f"unknown measure '{unknown}'"):
            benchmark.evaluate(file, ["searches", unknown])
    assert benchmark.evaluate(file, ["searches"]).means.to_dict() == {"searches": 1}


@pytest.mark.parametrize(
    ("ranking", "told"),
    [
        ("a", "'a' does not belong in a ranking; expected a list of document ids"),
        ({"a", "b"}, "does not belong in a ranking"),
        (None, "None does not belong in a ranking"),
        ([("a", True)], r"('a', True) does not belong in a ranking"),
        ([(0.5, "a")], r"(0.5, 'a') does not belong in a ranking"),
        (["a", ("b", 1.0)], "'a' does not belong in a ranking"),
        ({"a": "0.5"}, r"('a', '0.5') does not belong in a ranking"),
        ([("a", 0.1), ("b", 0.4)], "the score rises from 0.1 to 0.4 at 'b'; list the best"),
        (["a", "a#2"], "'a#2' is not the id of a document of this benchmark"),
        (["a", "a"], "document 'a' occurs more than once"),
        ({"a": float("nan")}, "the score nan is not finite"),
    ],
)
def test_a_ranking_that_would_be_misread_is_refused(ranking: Any, told: str) -> None:
    benchmark = graded()
    only = benchmark.questions[0].question_id
    for run in ({only: ranking}, lambda _: ranking):
        with pytest.raises(BearsError, match=re.escape(told)):
            benchmark.evaluate(run)


def test_a_run_of_other_questions_says_where_ids_come_from() -> None:
    with pytest.raises(BearsError, match=r"'q1' is not a question_id .*benchmark\.questions"):
        graded().evaluate({"q1": ["a"]})
    with pytest.raises(BearsError, match=r"run is \['a'\]; expected question_id to ranking"):
        graded().evaluate(["a"])


def test_the_package_lists_its_api_and_reprs_are_short() -> None:
    assert dir(bears) == ["Benchmark", "Chunk", "Index", "Scores", "build", "compare", "read"]
    benchmark = bears.build(DOCUMENTS, [ASKED], "en")
    assert repr(benchmark) == "Benchmark(1 questions, 2 documents, language='en')"
    assert repr(benchmark.index("bm25")) == "Index('bm25')"
    scores = benchmark.evaluate(lambda _: ["b", "a"], ["mrr", "recall@1"])
    assert repr(scores) == "Scores(1 questions: mrr 0.5000, recall@1 0.0000)"
    assert repr(benchmark.evaluate({})).endswith(" more)")


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "2 documents, 0 questions"),
        ([{**ASKED, "documents": ["z"]}], "question 1: 'z' is not among the documents"),
        ([{**ASKED, "documents": "a"}], "question 1: documents is 'a'; expected a list"),
        ([{**ASKED, "documents": []}], "question 1: documents is []; expected a list"),
        ([{**ASKED, "documents": ["a", "a"]}], "question 1: documents names one twice"),
        ([{**ASKED, "documents": {"a": 0, "b": 1}}], "grades are whole numbers from 1"),
        ([{"question": " ", "documents": ["a"]}], "question 1: expected a text"),
        ([ASKED, ASKED], "is repeated"),
        ([ASKED, {**ASKED, "question": None}], "question 2: expected a text"),
        (["what?"], "question 1: expected question and documents, got 'what?'"),
    ],
)
def test_what_does_not_fit_is_named(questions: Any, told: str) -> None:
    with pytest.raises(BearsError, match=re.escape(told)):
        bears.build(DOCUMENTS, questions, "en")


def test_an_unknown_name_lists_those_there_are() -> None:
    benchmark: Any = bears.build(DOCUMENTS, [ASKED], "en")
    build: Any = bears.build
    of_numbers: dict[Any, Any] = {**DOCUMENTS, 1: None}
    refused: dict[str, Callable[[], object]] = {
        "wordllama": lambda: benchmark.index("bm52"),
        "language is 'english'": lambda: build(DOCUMENTS, [ASKED], "english"),
        r"documents: expected id to text, got \['a'\]": lambda: build(["a"], [ASKED], "en"),
        "document 1: expected texts": lambda: build(of_numbers, [ASKED], "en"),
        r"'tea\?' is not a Question": lambda: benchmark.index("bm25").run(["tea?"]),
        "depth is 0": lambda: benchmark.index("bm25").search("sea", depth=0),
        "nDGC": lambda: benchmark.evaluate({}, ["nDGC"]),
        "two": lambda: bears.compare({"alone": benchmark.evaluate({}, ["map"])}),
    }
    for told, asked in refused.items():
        with pytest.raises(BearsError, match=told):
            asked()
    with pytest.raises(AttributeError):
        bears.nothing  # type: ignore[attr-defined] # noqa: B018
