"""``submit score`` as it is used: against an export alone, of a folder, with other measures."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from bears.cli import main
from bears.files.manifest import seal
from bears.files.records import write_json, write_records
from bears.files.rewritten import write_rewritten
from bears.files.traces import write_traces
from bears.results.board import read_board
from bears.trace import Trace
from bears.types import Document, Question, RewrittenQuestion
from tests.workspace import ROOT

QUESTIONS = [
    Question("q1", "one?", "", ("d1",), "s", "ad-hoc"),
    Question("q2", "two?", "", ("d2", "d3"), "s", "ad-hoc"),
]
DOCUMENTS = [Document(f"d{i}", f"text {i}", "s", f"{i}", True) for i in range(1, 5)]


@pytest.fixture
def export(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What an export holds of a benchmark, in a place without a pipeline."""
    folder = tmp_path / "export"
    write_records(folder / "queries.json", QUESTIONS)
    write_records(folder / "corpus.json", DOCUMENTS)
    part = {
        "benchmark": {"name": "small", "language": "en"},
        "sources": {"s": {"name": "s", "path": "nfcorpus", "split": "dev"}},
        "evaluate": {"measures": ["mrr@10", "success@1"], "curve": []},
        "retrieve": {"depth": 100, "score_threshold": None, "ignore_identical_ids": False},
    }
    write_json(folder / "benchmark.json", part)
    attested(folder)
    monkeypatch.chdir(tmp_path)
    return folder


def attested(folder: Path) -> None:
    kept = [path for path in folder.iterdir() if path.name != "attestation.json"]
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in kept}
    digests = {"benchmark": "small", "records": "", "root": "", "parts": {}, "files": files}
    write_json(folder / "attestation.json", digests)


def run_file(path: Path, *lines: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line} system\n" for line in lines), encoding="utf-8")
    return path


def give_form(export: Path, form: str) -> None:
    part = json.loads((export / "benchmark.json").read_bytes())
    part["benchmark"]["form"] = form
    write_json(export / "benchmark.json", part)


GOOD = ("q1 Q0 d4 1 9", "q1 Q0 d1 2 8", "q2 Q0 d2 1 9", "q2 Q0 d4 2 8")


def test_an_export_is_all_that_is_needed(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = run_file(tmp_path / "run.trec", *GOOD)
    assert main(["submit", "score", str(file), "--folder", str(export), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["measures"] == {"mrr@10": (1 / 2 + 1) / 2, "success@1": 1 / 2}
    assert report["warnings"] == []
    (row,) = read_board(Path("metrics/leaderboard.csv"))
    assert (row.benchmark, row.source) == ("small", "nfcorpus, dev")
    assert (row.questions, row.documents) == (2, 4)
    assert row.state == report["benchmark"]["state"]
    assert main(["submit", "score", str(file), "--folder", str(export), "--benchmark", "x"]) == 1
    assert "an export of small, not of x" in capsys.readouterr().err


def test_a_submission_is_scored_with_the_decisions_of_the_export(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    part = json.loads((export / "benchmark.json").read_text("utf-8"))
    said = [
        {"question_id": "q1", "doc_id": "d4", "decision": "relevant"},
        {"question_id": "q2", "doc_id": "d2", "decision": "not"},
    ]
    write_json(export / "benchmark.json", {**part, "ledger": {"judgements": said}})
    attested(export)
    file = run_file(tmp_path / "run.trec", *GOOD)
    assert main(["submit", "score", str(file), "--folder", str(export)]) == 0
    # By hand: d4 is right for the first question, and of d2, d4 neither for the second.
    said_of = capsys.readouterr().out
    assert "2 questions, 2 decisions of people" in said_of
    (row,) = read_board(Path("metrics/leaderboard.csv"))
    assert row.values["success@1"] == 1 / 2
    assert row.decisions == 2


def test_other_records_are_another_state(export: Path, tmp_path: Path) -> None:
    file = run_file(tmp_path / "run.trec", *GOOD)
    arguments = ["submit", "score", str(file), "--folder", str(export)]
    assert main(arguments) == 0
    write_records(export / "corpus.json", DOCUMENTS[:3])
    attested(export)
    assert main(arguments) == 0
    assert len({row.state for row in read_board(Path("metrics/leaderboard.csv"))}) == 2


CHANGES: dict[str, Callable[[Path], object]] = {
    "queries.json": lambda path: path.write_bytes(path.read_bytes().replace(b'"d1"', b'"d4"')),
    "benchmark.json": lambda path: path.write_bytes(path.read_bytes() + b" "),
    "lineage.jsonl": lambda path: path.write_bytes(b""),
    "attestation.json": Path.unlink,
}


@pytest.mark.parametrize("name", CHANGES)
def test_an_export_that_differs_from_its_attestation_is_scored_on_demand_only(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = run_file(tmp_path / "run.trec", *GOOD)
    arguments = ["submit", "score", str(file), "--folder", str(export)]
    assert main([*arguments, "--unattested"]) == 0
    assert "unattested" not in capsys.readouterr().out
    CHANGES[name](export / name)
    assert main(arguments) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert name in said.err
    assert "--unattested" in said.err
    assert main([*arguments, "--unattested"]) == 0
    assert "warning: unattested: benchmark: " in capsys.readouterr().out
    (row,) = {row.warnings for row in read_board(Path("metrics/leaderboard.csv"))} - {""}
    assert row == "unattested"


def test_records_of_a_folder_are_not_called_after_the_source_in_conf(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("benchmark.json", "attestation.json"):
        (export / name).unlink()
    for name in ("conf", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    file = run_file(tmp_path / "run.trec", *GOOD)
    words = ["--folder", str(export), "--benchmark", "scifact", "--json"]
    assert main(["submit", "score", str(file), *words]) == 0
    assert json.loads(capsys.readouterr().out)["benchmark"]["source"] == "export"


def test_measures_can_be_named(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = run_file(tmp_path / "run.trec", *GOOD)
    arguments = ["submit", "score", str(file), "--folder", str(export), "--json"]
    assert main([*arguments, "--measures", "recall@2,strict@2"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    assert measures == {"recall@2": (1 + 1 / 2) / 2, "strict@2": 1 / 2}
    assert main([*arguments, "--measures", "recall"]) == 1
    assert "unknown measure 'recall'" in capsys.readouterr().err


def test_a_folder_is_scored_file_by_file_and_what_is_refused_stops_no_other(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    run_file(runs / "a.trec", *GOOD)
    run_file(runs / "b.trec", *GOOD, "q9 Q0 d1 1 1")
    run_file(runs / "c.trec", *GOOD[:2])
    assert main(["submit", "score", str(runs), "--folder", str(export)]) == 1
    said = capsys.readouterr()
    assert said.out.count("system (trec) on small") == 2
    assert "b.trec: the submission is refused" in said.err
    assert "q9: is not a question of this benchmark; --ignore-unknown" in said.err
    assert len(read_board(Path("metrics/leaderboard.csv"))) == 2

    assert main(["submit", "score", str(runs), "--folder", str(export), "--ignore-unknown"]) == 0
    assert "1 questions are not in this benchmark and are ignored" in capsys.readouterr().out


def test_distances_are_warned_of(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = run_file(tmp_path / "run.trec", "q1 Q0 d1 1 0.1", "q1 Q0 d4 2 0.2", *GOOD[2:])
    assert main(["submit", "score", str(file), "--folder", str(export)]) == 0
    assert "if these are distances, negate them" in capsys.readouterr().out


def test_repeated_documents_of_a_pandachat_submission_take_one_place(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # PandaChat's own count takes the first two sources as they are; ours of documents does not.
    rows = [
        {"query": "one?", "sources": ["d4", "d4", "d1"]},
        {"query": "two?", "sources": ["d4", "d1", "d3"]},
    ]
    file = tmp_path / "panda.json"
    file.write_text(json.dumps({"df": rows, "time_per_question": 1.0}), encoding="utf-8")
    assert main(["submit", "score", str(file), "--folder", str(export)]) == 0
    shown = capsys.readouterr().out
    assert "mrr@10" in shown
    assert "0.4166" in shown
    (row,) = read_board(Path("metrics/leaderboard.csv"))
    assert (row.values["success@2"], row.values["retrieval_accuracy@2"]) == (1 / 2, 0)


def test_a_form_is_written_only_for_the_benchmark_whose_task_has_it(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_file(tmp_path / "runs" / "mine.trec", *GOOD)
    words = ["submit", "write", str(run), "out.json", "--folder", str(export), "--unattested"]
    assert main(words) == 1
    assert "'small' has no form of its own for results" in capsys.readouterr().err
    assert not Path("out.json").exists()

    give_form(export, "pandachat")
    assert main([*words, "--answers", "answers.jsonl"]) == 1
    assert "leave out --rewritten and --answers" in capsys.readouterr().err
    assert main(words) == 0
    assert "out.json: 2 questions, in the form pandachat" in capsys.readouterr().out
    written = json.loads(Path("out.json").read_bytes())
    assert (written["system"], written["time_per_question"]) == ("mine", None)
    # A run from elsewhere has no chunks, so that its documents are the sources.
    assert [row["sources"] for row in written["df"]] == [["d4", "d1"], ["d2", "d4"]]
    assert [row["document"] for row in written["df"]] == ["d1", "d2"]
    assert main(["submit", "score", "out.json", "--folder", str(export), "--unattested"]) == 0


def test_the_korean_form_takes_the_answers_of_the_same_run(
    export: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    give_form(export, "science-ko")
    run = run_file(tmp_path / "runs" / "mine.trec", *GOOD)
    words = ["submit", "write", str(run), "out", "--folder", str(export), "--unattested"]
    assert main(words) == 1
    assert "--folder needs --rewritten FILE" in capsys.readouterr().err
    asked = (RewrittenQuestion(each.question_id, each.question, True) for each in QUESTIONS)
    write_rewritten(tmp_path / "rewritten.jsonl", asked)
    write_traces(tmp_path / "answers.jsonl", [Trace(question_id="q2", answer="둘")])
    words += ["--rewritten", "rewritten.jsonl", "--answers", "answers.jsonl"]
    assert main(words) == 0
    rows = [json.loads(line) for line in Path("out").read_text("utf-8").splitlines()]
    assert [(row["eval_id"], row["answer"]) for row in rows] == [("q1", ""), ("q2", "둘")]

    # An output of ours names what it was made of, here the chunks of another run.
    seal([tmp_path / "answers.jsonl"], {"chunks": "0" * 64})
    assert main(words) == 1
    assert f"answers.jsonl was not made from {run}" in capsys.readouterr().err
