"""`bears`: what it does, what it refuses, and on which stream it says so."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml

from bears.cli import main
from bears.errors import FormatError
from bears.files.records import write_json, write_records, write_text
from bears.llm.use import load
from bears.types import Question
from tests.workspace import ROOT, environment_for

QUESTIONS = ["q-one", "q-two"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration, and two sampled questions, in a folder of their own."""
    without = shutil.ignore_patterns("ledger")
    shutil.copytree(ROOT / "conf", tmp_path / "conf", ignore=without)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    rows = [Question(q, "Who?", "A bear", ("d1",), "drcd", "single-hop") for q in QUESTIONS]
    write_records(tmp_path / "data/mini/sampled/queries_raw.json", rows)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def ledger(project: Path) -> list[dict[str, str]]:
    text = (project / "conf" / "ledger" / "mini.yaml").read_text(encoding="utf-8")
    entries: list[dict[str, str]] = yaml.safe_load(text)["replacements"]
    return entries


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--help"], "the pipeline itself is `dvc repro`"),
        (["replies", "import", "--help"], "queries_raw.json, corpus_raw.json, queries.json"),
        ([], "replace a question"),
        (["nosuch"], "invalid choice: 'nosuch'"),
        (["replies"], "required: COMMAND"),
        (["replace", "q-one"], "required: --reason"),
        (["replies", "import"], "required: BENCHMARK, FOLDER"),
        (
            ["compare", "--by", "color"],
            "invalid choice: 'color' (choose from 'type', 'source', 'turn')",
        ),
        (["report", "--top", "high"], "invalid int value: 'high'"),
    ],
)
def test_it_explains_itself_on_demand_and_where_a_command_is_incomplete(
    words: list[str], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = "--help" in words
    with nullcontext() if asked else pytest.raises(SystemExit, match="2"):
        assert main(words) == 0
    told, empty = capsys.readouterr()[:: 1 if asked else -1]
    assert empty == ""
    assert told.startswith("usage: bears")
    assert shown in " ".join(told.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["report", "--top", "101"], "--top is 101; expected a whole number from 1 to 100"),
        (["compare", "--equal-within", "nan"], "--equal-within is nan; expected a number above 0"),
        (["replies", "review"], "expected either --export FILE or --import FILE"),
        (["replace", "q-three", "--reason", "x"], "mini has no question q-three; data/mini/sam"),
        (["replace", "q-one", "--reason", " "], "an entry needs a reason"),
        (["replace", "q-one", "--reason", "x", "--benchmark", "bears"], "run `dvc repro sample`"),
        (["replace", "q-one", "--reason", "x", "--benchmark", "no"], "options in 'benchmark'"),
        (["replies", "import", "bears", "nosuch"], "queries_raw.json: no such file"),
    ],
)
def test_arguments_that_do_not_fit_end_in_a_sentence(
    words: list[str],
    message: str,
    project: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("bears.cli.ragas.python", lambda: None)
    assert main(words) == 1
    out, err = capsys.readouterr()
    assert (out, err[:7]) == ("", "bears: ")
    assert message in err
    assert not any((project / name).exists() for name in ("metrics", "conf/ledger", "data/memory"))


@pytest.mark.slow
def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"set -o pipefail; {sys.executable} -m bears show | head -n 1"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=environment_for(sys.executable),
        capture_output=True,
        encoding="utf-8",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("metrics/retrieval.json")


def test_the_metrics_are_shown_as_a_table_and_outside_the_root_it_says_where_to_go(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show"]) == 1
    assert "run `dvc repro`, in the project's root" in capsys.readouterr().err
    shutil.copytree(ROOT / "metrics", project / "metrics")
    assert main(["show"]) == 0
    out = capsys.readouterr().out
    metrics = json.loads((ROOT / "metrics" / "retrieval.json").read_text(encoding="utf-8"))
    assert re.search(rf"^ndcg@10 +{metrics['all']['ndcg@10']:.3f} ", out, re.MULTILINE)
    assert re.search(r"^errors +0$", out, re.MULTILINE)
    assert "answers.json" not in out
    means = {"n": 2, "answer_f1": 0.25, "pass_rate": None, "causes": {"reader": 1, "cut": 1}}
    groups = {"all": means, "by_type": {}, "by_source": {"drcd": means}}
    judged = {"generator": "sentence", "context": "gold", "within": False, **groups}
    judged["benchmark"] = {"name": "drcd", "source": "", "state": "5e", "questions": 2}
    typed = {"free-form": {"n": 2, "answer_f1": 0.25, "exact_match": None}}
    write_json(project / "metrics" / "answers.json", {**judged, "by_answer_type": typed})
    assert main(["show"]) == 0
    out = capsys.readouterr().out
    heading = "sentence (context gold) on drcd, state 5e, 2 questions"
    assert f"metrics/answers.json:\n{heading}\n" in out
    # The only source has all questions, and no column.
    for line in ("answer_f1 +0.250", "pass_rate +–", "cause: cut +1", "n +2"):
        assert re.search(rf"^{line}$", out, re.MULTILINE), line
    assert re.search("^free-form +2 +0.25000 +–$", out, re.MULTILINE)
    assert main(["show", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["retrieval"], shown["answers"]["all"]) == (metrics, means)
    assert shown["verification"]["errors"] == 0
    write_json(project / "metrics" / "answers.json", {**judged, "all": {"n": "two"}})
    assert main(["show"]) == 1
    assert "metrics/answers.json" in capsys.readouterr().err


def test_after_another_selection_the_table_still_says_what_was_measured(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "metrics", project / "metrics")
    path = project / "metrics" / "retrieval.json"
    metrics = json.loads(path.read_text(encoding="utf-8"))
    metrics["benchmark"] |= {"name": "beir", "source": "nfcorpus, test", "state": "5e"}
    write_json(path, {**metrics, "retriever": "wordllama"})
    assert main(["show"]) == 0
    out, err = capsys.readouterr()
    heading = "wordllama on beir (nfcorpus, test), state 5e, 18 questions"
    assert out.startswith(f"metrics/retrieval.json:\n{heading}\n")
    selects = "and params.yaml selects"
    assert f"is of benchmark beir, {selects} mini; run `dvc repro`" in err
    assert f"is of retriever wordllama, {selects} bm25; run `dvc repro`" in err


def test_a_replacement_is_kept_with_its_reason(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replace", "q-one", "--reason", "無法回答", "--author", "Ada"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("conf/ledger/mini.yaml: q-one will be replaced at the next `dvc repro`")
    assert err == ""
    assert ledger(project) == [{"question_id": "q-one", "reason": "無法回答", "author": "Ada"}]
    assert "無法回答" in (project / "conf/ledger/mini.yaml").read_text(encoding="utf-8")
    assert main(["replace", "q-one", "--reason", "y"]) == 1
    assert capsys.readouterr().err == "bears: q-one is replaced already\n"
    assert [entry["reason"] for entry in ledger(project)] == ["無法回答"]


@pytest.mark.slow
def test_the_order_of_replacements_leaves_no_trace(project: Path) -> None:
    path = project / "conf" / "ledger" / "mini.yaml"
    written = []
    for order in (QUESTIONS, QUESTIONS[::-1]):
        for question_id in order:
            assert main(["replace", question_id, "--reason", "why"]) == 0
        written.append(path.read_bytes())
        assert {entry["question_id"] for entry in ledger(project)} == set(QUESTIONS)
        path.unlink()
    assert written[0] == written[1]


def test_a_published_set_becomes_kept_replies(
    project: Path, shared_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    published = str(shared_data / "bears-published")
    path = project / "data" / "memory" / "bears.jsonl"
    assert main(["replies", "import", "bears", published, "~sources.hotpotqa"]) == 1
    assert "source hotpotqa is not one of the benchmark's: drcd" in capsys.readouterr().err
    assert not path.exists()
    assert main(["replies", "import", "bears", published]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    size = len(load(path, "translation"))
    assert out == f"data/memory/bears.jsonl: {size} entries, {size} of them new\n"
    assert size > 400

    first = path.read_bytes()
    assert main(["replies", "import", "bears", published]) == 0
    assert f"{size} entries, 0 of them new\n" in capsys.readouterr().out
    assert path.read_bytes() == first
    lines = path.read_text(encoding="utf-8").split("\n")[:-1]
    places = [(json.loads(line)["key"], json.loads(line)["record_id"]) for line in lines]
    assert places == sorted(places)


def test_outside_the_project_it_says_where_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    replacing, judging = ["replace", "q", "--reason", "x"], ["labels", "price", "x.csv"]
    for words in (replacing, ["leaderboard"], [*judging, "--judge", "contains"]):
        assert main(words) == 1
        said = capsys.readouterr().err
        assert said.startswith(f"bears: {tmp_path} is not a project: ")
        assert said.endswith(" make one: bears init NAME\n")
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(FormatError, match="is a device or a pipe; name a file"):
        write_text(pipe, "text")
    assert list(tmp_path.iterdir()) == [pipe]
    assert pipe.is_fifo()


@pytest.mark.slow
def test_pandas_is_imported_only_for_a_row_of_the_leaderboard() -> None:
    """It takes two seconds with what it brings, and most files of answers get no row."""
    code = "import sys, bears.cli.answers, bears.cli.ragas; assert 'pandas' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)
