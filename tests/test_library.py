"""The library: what docs/library.md says, without DVC and outside of the project."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import bears
from bears.errors import BearsError, ConfigurationError
from tests.workspace import ROOT, finished

DOCUMENTS = {"a": "Sofia is the capital of Bulgaria.", "b": "Varna lies on the Black Sea."}
ASKED: dict[str, Any] = {"question": "Capital of Bulgaria?", "documents": ["a"]}


def example() -> str:
    found = re.search(r"```python\n(.*?)```", (ROOT / "docs/library.md").read_text("utf-8"), re.S)
    assert found
    return found[1]


def test_the_example_runs_outside_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    known: dict[str, Any] = {}
    exec(example(), known)
    assert capsys.readouterr().out.startswith("varna.md\nndcg@10      1.0\n")
    frame = bears.compare(known["scores"])
    assert set(frame["verdict"]) == {"cannot be told apart"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_wheel_carries_all_that_the_example_needs(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "uv", "build", "--wheel", "--quiet", "--out-dir"]
    subprocess.run([*build, str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(tmp_path / "installed")
    alone = "import logging, sys; sys.modules['dvc'] = None\n" + example()
    alone += "\nassert not logging.getLogger().handlers"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run(
        [sys.executable, "-c", alone], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert done.stdout.startswith("varna.md\n"), done.stderr
    assert done.returncode == 0, done.stderr


def test_it_measures_what_the_pipeline_measures(tmp_path_factory: pytest.TempPathFactory) -> None:
    workspace = finished(tmp_path_factory.getbasetemp())[0]
    benchmark = bears.read(workspace.root / "data/mini/translated", "zh-Hant-TW")
    scores = benchmark.evaluate(benchmark.index("bm25").run(benchmark.questions))
    means = json.loads(workspace.text("metrics/retrieval.json"))["all"]
    assert dict(scores.means) == pytest.approx({name: means[name] for name in scores.means.index})
    again = benchmark.evaluate(workspace.root / "data/mini/runs/bm25.trec")
    pd.testing.assert_frame_equal(again.by_question, scores.by_question)


def test_an_index_that_has_a_folder_stays_there(tmp_path: Path) -> None:
    benchmark = bears.build(DOCUMENTS, [ASKED], "en")
    index = benchmark.index("bm25", "retriever.k1=1.2", folder=str(tmp_path / "index"))
    assert [hit.doc_id for hit in index.search("black sea")] == ["b"]
    del index
    assert list((tmp_path / "index").iterdir())


def test_a_hosted_model_is_known_outside_of_the_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BearsError, match="python -m bears embeddings"):
        bears.build(DOCUMENTS, [ASKED], "en").index("text-embedding-3-small")


def test_grades_count(tmp_path: Path) -> None:
    graded = {"question": "Bulgaria?", "documents": {"a": 1, "b": 3}}
    benchmark = bears.build(DOCUMENTS, [graded], "en")
    only = benchmark.questions[0].question_id
    run = tmp_path / "run.trec"
    run.write_text(f"{only} Q0 a 1 2.0 t\n{only} Q0 b 2 1.0 t\n", encoding="utf-8")
    # Gains 1 and 3 in the wrong order: (1 + 3 / log2 3) / (3 + 1 / log2 3).
    found = benchmark.evaluate(run, ["ndcg@10"]).means["ndcg@10"]
    assert found == pytest.approx(0.7967075809905066)


@pytest.mark.parametrize(
    ("questions", "told"),
    [
        ([], "2 documents, 0 questions"),
        ([{**ASKED, "documents": ["z"]}], "question 1: 'z' is none of the documents"),
        ([{**ASKED, "documents": "a"}], "question 1: documents is 'a'; expected a list"),
        ([{**ASKED, "documents": []}], "question 1: documents is []; expected a list"),
        ([{**ASKED, "documents": ["a", "a"]}], "question 1: documents names one twice"),
        ([{**ASKED, "documents": {"a": 0, "b": 1}}], "grades are whole numbers from 1"),
        ([{"question": " ", "documents": ["a"]}], "question 1: expected a text"),
        ([ASKED, ASKED], "stands twice"),
        ([ASKED, {**ASKED, "question": None}], "question 2: expected a text"),
        (["what?"], "question 1: expected question and documents, got 'what?'"),
    ],
)
def test_what_does_not_fit_is_named(questions: Any, told: str) -> None:
    with pytest.raises(BearsError, match=re.escape(told)):
        bears.build(DOCUMENTS, questions, "en")


def test_an_unknown_name_lists_those_there_are() -> None:
    benchmark = bears.build(DOCUMENTS, [ASKED], "en")
    with pytest.raises(ConfigurationError, match="wordllama"):
        benchmark.index("bm52")
    with pytest.raises(ConfigurationError, match="language is 'english'"):
        bears.build(DOCUMENTS, [ASKED], "english")
    with pytest.raises(BearsError, match="documents: expected id to text, got \\['a'\\]"):
        bears.build(["a"], [ASKED], "en")  # type: ignore[arg-type]
    with pytest.raises(BearsError, match=r"'tea\?' is no question of a benchmark"):
        benchmark.index("bm25").run(["tea?"])  # type: ignore[list-item]
    with pytest.raises(BearsError, match="document 1: expected texts"):
        bears.build({**DOCUMENTS, 1: None}, [ASKED], "en")  # type: ignore[dict-item]
    with pytest.raises(BearsError, match="depth is 0"):
        benchmark.index("bm25").search("sea", depth=0)
    with pytest.raises(BearsError, match=r"'b1' is no bears\.types\.Hit"):
        benchmark.evaluate({benchmark.questions[0].question_id: ["b1"]})  # type: ignore[dict-item]
    with pytest.raises(BearsError, match="nDCG"):
        benchmark.evaluate({}, ["nDCG"])
    one = benchmark.evaluate({}, ["map"])
    with pytest.raises(BearsError, match="two"):
        bears.compare({"alone": one})
    with pytest.raises(AttributeError):
        bears.nothing  # type: ignore[attr-defined] # noqa: B018
