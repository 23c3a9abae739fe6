"""The stage programs: by hand, with wrong words, interrupted, and on what must not go on."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import termios
from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from bears.config import read_mapping
from bears.config.pipeline import Paths, load_config, run
from bears.config.shape import Choice
from bears.errors import BearsError
from bears.files.records import document_count, write_records
from bears.types import Document
from tests.workspace import ROOT, STAGES, Workspace, environment_for, finished

# A pipeline in small, for what every stage program does around its own work.
DEFINITION = {
    "stages": {
        "boil": {
            "cmd": "python -m stages.boil --water data/${benchmark}/water --tea ${retriever}.tea",
            "deps": ["data/language.yaml"],
            "params": ["benchmark", {"data/config.yaml": ["kettle"]}],
        }
    }
}
LANGUAGE = {"name": "zh-Hant-TW", "title": "Chinese"}
CONFIG = {**read_mapping(ROOT / "data" / "config.yaml"), "kettle": {"litres": 1}, "secret": 42}
ByHand = Callable[..., str]


@pytest.fixture
def kitchen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump(DEFINITION), encoding="utf-8")
    monkeypatch.setattr("bears.config.pipeline.pipeline", lambda: yaml.safe_dump(DEFINITION))
    (tmp_path / "data" / "config.yaml").write_text(yaml.safe_dump(CONFIG), encoding="utf-8")
    (tmp_path / "data" / "language.yaml").write_text(yaml.safe_dump(LANGUAGE), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Boil:
    """A stage that records its arguments, or fails."""

    def __init__(self, failure: BaseException | None = None) -> None:
        self.failure = failure
        self.calls: list[tuple[Mapping[str, Any], Mapping[str, Path]]] = []

    def main(self, paths: Paths, *, kettle: dict[str, int], language: Choice) -> None:
        """Boil."""
        if self.failure:
            raise self.failure
        self.calls.append(({"kettle": kettle, "language": language}, dict(paths)))


@pytest.mark.usefixtures("kitchen")
def test_a_stage_sees_the_keys_it_declares_and_no_others() -> None:
    boil = Boil()
    assert run("boil", boil.main, []) == 0
    ((settings, _),) = boil.calls
    assert settings == {"kettle": {"litres": 1}, "language": Choice(LANGUAGE)}


@pytest.mark.usefixtures("kitchen")
def test_the_paths_are_those_of_dvc_yaml_unless_given() -> None:
    boil = Boil()
    run("boil", boil.main, [])
    run("boil", boil.main, ["--tea", "cup"])
    run("boil", boil.main, ["--tea=cup", "--water", "sea"])
    assert [{name: str(path) for name, path in paths.items()} for _, paths in boil.calls] == [
        {"water": "data/mini/water", "tea": "bm25.tea"},
        {"water": "data/mini/water", "tea": "cup"},
        {"water": "sea", "tea": "cup"},
    ]


@pytest.mark.usefixtures("kitchen")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--milk", "jug"], "unrecognized arguments: --milk"),
        (["--tea"], "argument --tea: expected one argument"),
    ],
)
def test_an_option_that_does_not_fit_is_refused(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    boil = Boil()
    with pytest.raises(SystemExit) as ended:
        run("boil", boil.main, words)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not boil.calls


def test_an_input_that_is_not_there_yet_is_named(
    kitchen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    definition = {
        **DEFINITION["stages"]["boil"],
        "deps": ["data/language.yaml", "data/${benchmark}/water"],
    }
    text = yaml.safe_dump({"stages": {"boil": definition}})
    (kitchen / "dvc.yaml").write_text(text, encoding="utf-8")
    boil = Boil()
    assert run("boil", boil.main, []) == 1
    message = "boil: --water: data/mini/water does not exist yet; `dvc repro boil` makes it first\n"
    assert capsys.readouterr().err == message
    assert not boil.calls
    (kitchen / "data" / "mini" / "water").mkdir(parents=True)
    assert run("boil", boil.main, []) == 0


@pytest.mark.parametrize("name", ["config", "language"])
@pytest.mark.parametrize(
    ("text", "told"),
    [
        (None, "no such file; run `dvc repro config` first\n"),
        ("<<<<<<< HEAD\nkettle: 1\n", "not valid YAML"),
        ("", "expected a mapping"),
        ("- kettle\n", "expected a mapping"),
    ],
)
def test_a_configuration_that_is_missing_or_damaged_is_named(
    kitchen: Path, name: str, text: str | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = kitchen / "data" / f"{name}.yaml"
    file.unlink()
    if text is not None:
        file.write_text(text, encoding="utf-8")
    assert run("boil", Boil().main, []) == 1
    assert capsys.readouterr().err.startswith(f"boil: data/{name}.yaml: {told}")


def test_a_declared_key_that_is_not_there_is_named(
    kitchen: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    without = {key: value for key, value in CONFIG.items() if key != "kettle"}
    (kitchen / "data" / "config.yaml").write_text(yaml.safe_dump(without), encoding="utf-8")
    assert run("boil", Boil().main, []) == 1
    assert "data/config.yaml has no key kettle" in capsys.readouterr().err


@pytest.mark.usefixtures("kitchen")
def test_what_a_user_can_mend_is_a_message_and_not_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("boil", Boil(BearsError("the kettle is empty; fill it")).main, []) == 1
    assert capsys.readouterr().err == "boil: the kettle is empty; fill it\n"
    assert run("boil", Boil(KeyboardInterrupt()).main, []) == 130
    assert capsys.readouterr().err.startswith("boil: interrupted")


def test_outside_the_project_a_stage_says_where_to_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("boil", Boil().main, []) == 1
    assert "bears init NAME" in capsys.readouterr().err
    with pytest.raises(BearsError, match="dvc repro config"):
        load_config()


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy for all tests that change nothing."""
    folder = tmp_path_factory.mktemp("unchanged") / "project"
    return finished(tmp_path_factory.getbasetemp())[0].copied(folder)


@pytest.fixture
def calling(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> ByHand:
    """Give a function that runs a stage in a workspace and returns what it printed.

    In this process, since Python and its imports take longer to start than the stage takes. A
    traceback would fail the test.
    """
    monkeypatch.delenv("DVC_ROOT", raising=False)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def call(workspace: Workspace, stage: str, *words: str, code: int = 0) -> str:
        monkeypatch.chdir(workspace.root)
        main = import_module(f"stages.{stage}").main
        ended = run(stage, main, words)
        printed = capsys.readouterr()
        assert ended == code, printed
        return printed.out + printed.err

    return call


@pytest.fixture
def by_hand(workspace: Workspace, calling: ByHand) -> ByHand:
    return partial(calling, workspace)


@pytest.fixture
def refused(unchanged: Workspace, calling: ByHand) -> ByHand:
    return partial(calling, unchanged)


def test_every_stage_explains_itself(unchanged: Workspace, refused: ByHand) -> None:
    assert "python -m stages.config" in unchanged.python("stages.config", "--help")
    for stage in STAGES[1:]:
        told = refused(stage, "--help")
        assert f"python -m stages.{stage}" in told
        assert "Reads from the configuration: " in told


def test_overrides_by_hand_compose_afresh_and_leave_the_configuration_alone(
    workspace: Workspace, by_hand: ByHand
) -> None:
    before = workspace.text("data/config.yaml")
    out = workspace.root.parent / "by-hand"
    by_hand("sample", "sample.seed=7", "--out", str(out / "seven"))
    other = Workspace(out).bytes_below("seven")
    assert other != workspace.bytes_below("data/mini/sampled")
    by_hand("sample", "sample.seed=42", "--out", str(out / "forty-two"))
    same = Workspace(out).bytes_below("forty-two")
    assert same == workspace.bytes_below("data/mini/sampled")
    assert workspace.text("data/config.yaml") == before
    assert workspace.git("status", "--short") == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["sample", "sample.sed=7"], "sample: Could not override 'sample.sed'"),
        (["sample", "benchmark=nosuch"], "Available options in 'benchmark'"),
        (["sample", "sample.seed=seven"], "sample: sample.seed: Input should be a valid"),
        (["index", "retriever.analyzer=no"], "index: retriever.analyzer: expected one of cjk-"),
        (["index", "+retriever.k2=1"], "index: retriever has no setting k2; expected"),
        (["index", "retriever=wordllama", "retriever.encoder.dimensions=64"], "carries 256"),
        (["retrieve", "retrieve.depth=0"], "retrieve: retrieve.depth: Input should be greater"),
        (["retrieve", "retrieve.depth=many"], "retrieve: retrieve.depth: Input should be a"),
        (
            ["retrieve", "retrieve.score_threshold=nan"],
            "retrieve.score_threshold: Input should be a finite",
        ),
        (["download", "sources.drcd.shape=''", "+sources.drcd.reader=bears.no.read"], ".reader is"),
        (
            ["download", "sources.drcd.shape=sqaud"],
            "shape is 'sqaud'; give either a reader or a shape",
        ),
        (["evaluate", "evaluate.measures=[ndgc]"], "evaluate: unknown measure 'ndgc'"),
        (["evaluate", "evaluate.measures=recall@5"], "evaluate.measures: Input should be a valid"),
        (["evaluate", "evaluate.measures=[]"], "evaluate.measures: List should have at least 1"),
        (["evaluate", "evaluate.curve=[0]"], "evaluate.curve.0: Input should be greater than 0"),
        (["evaluate", "evaluate.measures=[recall@101]"], "all of them deeper than retrieve.depth"),
    ],
)
def test_a_wrong_value_ends_a_stage_with_a_message(
    refused: ByHand, words: list[str], message: str
) -> None:
    assert message in refused(*words, code=1)


SLOW_READER = """
import time
from itertools import islice

from bears.sources import squad


def read(parts):
    yield from islice(squad.read_squad(parts), 2)
    print("in the middle", flush=True)
    time.sleep(60)
"""


@pytest.mark.slow
def test_an_interrupted_stage_leaves_no_half_written_output(workspace: Workspace) -> None:
    (workspace.root / "bears/sources/slow.py").write_text(SLOW_READER, encoding="utf-8")
    out = workspace.root / "out"
    words = ["sources.drcd.shape=''", "+sources.drcd.reader=bears.sources.slow.read"]
    words += ["--rows", str(out), "--provenance", str(out / "p")]
    with subprocess.Popen(
        [sys.executable, "-m", "stages.download", *words],
        cwd=workspace.root,
        env=environment_for(sys.executable),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        # A test run in the background of a shell ignores the signal, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as stage:
        assert stage.stdout
        assert stage.stdout.readline() == "in the middle\n"
        assert {path.suffix for path in out.iterdir()} == {".tmp"}
        stage.send_signal(signal.SIGINT)
        _, errors = stage.communicate(timeout=30)
    assert stage.returncode == 130
    assert errors.startswith("download: interrupted; ")
    assert "Traceback" not in errors
    assert list(out.iterdir()) == []


def spoilt_corpus(workspace: Workspace) -> Path:
    """A copy of the translated set in which one gold document has lost its text."""
    folder = workspace.root / "spoilt"
    shutil.copytree(workspace.root / "data/mini/translated", folder)
    corpus: list[dict[str, Any]] = json.loads((folder / "corpus.json").read_bytes())
    next(document for document in corpus if document["is_gold"])["content"] = ""
    # What a person changes on purpose has no manifest any more.
    (folder / "manifest.json").unlink()
    (folder / "corpus.json").unlink()
    (folder / "corpus.json").write_text(json.dumps(corpus), encoding="utf-8")
    return folder


def test_a_finding_of_severity_error_is_written_and_vouches_for_nothing(
    workspace: Workspace, by_hand: ByHand
) -> None:
    spoilt = spoilt_corpus(workspace)
    out = workspace.root / "verified"
    by_hand("verify", "--out", str(out))
    assert (out / "digest.json").exists()
    words = ["--translated", str(spoilt), "--out", str(out)]
    output = by_hand("verify", *words, code=1)
    assert "findings of severity error" in output
    findings = [json.loads(line) for line in (out / "findings.jsonl").read_text().splitlines()]
    errors = [finding for finding in findings if finding["severity"] == "error"]
    assert errors
    assert all(error["message"] in output for error in errors)
    assert json.loads(workspace.text("metrics/verification.json"))["errors"] == len(errors)
    # Not even the one that an earlier run by hand left there.
    assert not (out / "digest.json").exists()


def test_an_accepted_finding_lets_the_benchmark_pass(workspace: Workspace, by_hand: ByHand) -> None:
    spoilt = spoilt_corpus(workspace)
    words = ["--translated", str(spoilt), "--out", str(workspace.root / "verified")]
    by_hand("verify", *words, code=1)
    checks = json.loads(workspace.text("metrics/verification.json"))["findings"]
    accept = ",".join(f"{{check:{check},record_id:'*',reason:known}}" for check in checks)
    output = by_hand("verify", f"benchmark.accept=[{accept}]", *words)
    assert "accepted: " in output
    assert (workspace.root / "verified" / "digest.json").exists()
    assert json.loads(workspace.text("metrics/verification.json"))["errors"] == 0


def test_a_review_in_the_ledger_accepts_what_the_gates_say_and_no_lost_text(
    workspace: Workspace, by_hand: ByHand
) -> None:
    folder = spoilt_corpus(workspace)
    words = ["--translated", str(folder), "--out", str(workspace.root / "verified")]
    documents = json.loads((folder / "corpus.json").read_bytes())
    lost = next(document for document in documents if document["is_gold"])
    foreign = [document for document in documents if document["original_source"] != "drcd"]
    foreign[-1]["content"] += "尼日利亞"
    # A gold document without a text is damage, what the gates say of the other is reviewed.
    reviews = [
        {"record_id": document["doc_id"], "field": "content", "decision": "accept", "reason": "x"}
        for document in (lost, foreign[-1])
    ]
    (folder / "corpus.json").write_text(json.dumps(documents), encoding="utf-8")
    (workspace.root / "conf/ledger").mkdir(exist_ok=True)
    ledger = yaml.safe_dump({"reviews": reviews})
    (workspace.root / "conf/ledger/mini.yaml").write_text(ledger, encoding="utf-8")
    # An override makes the stage compose afresh.
    output = by_hand("verify", "sample.seed=42", *words, code=1)
    assert f"accepted: variant: {foreign[-1]['doc_id']}: content: " in output
    assert f"error: empty: {lost['doc_id']}: " in output


def test_only_the_corpus_that_was_verified_is_indexed(
    workspace: Workspace, by_hand: ByHand
) -> None:
    spoilt = spoilt_corpus(workspace)
    out = workspace.root / "index"
    words = ["--corpus", str(spoilt / "corpus.json"), "--out", str(out)]
    output = by_hand("index", *words, code=1)
    assert "on the present file first" in output
    assert "run `dvc repro verify`" in output
    words += ["--verified", str(workspace.root / "nowhere.json")]
    message = "nowhere.json does not exist yet; `dvc repro index` makes it first"
    assert message in by_hand("index", *words, code=1)
    assert not out.exists()


def test_the_bar_over_an_index_knows_its_end(workspace: Workspace) -> None:
    terminal, stderr = pty.openpty()
    termios.tcsetwinsize(terminal, (24, 80))
    subprocess.run(
        [sys.executable, "-m", "stages.index", "--out", str(workspace.root / "index")],
        cwd=workspace.root,
        env=environment_for(sys.executable),
        stderr=stderr,
        check=True,
    )
    os.close(stderr)
    assert "160/160" in os.read(terminal, 1 << 16).decode()
    os.close(terminal)


def test_documents_are_counted_whatever_their_texts_hold_and_wherever_a_read_ends(
    tmp_path: Path,
) -> None:
    text = '"doc_id": \\"doc_id": '
    rows = [Document(str(n), text * 99 + "x" * (n % 50), "s", "", False) for n in range(1500)]
    write_records(tmp_path / "corpus.json", rows)
    assert (tmp_path / "corpus.json").stat().st_size > 3 << 20
    assert document_count(tmp_path / "corpus.json") == len(rows)


def test_a_timing_is_shown_with_the_run_that_it_measured_and_no_other(
    workspace: Workspace, by_hand: ByHand
) -> None:
    mine = workspace.root / "mine"
    timing = ["--timing", str(mine / "timing.json")]
    results = [f"--{name}={mine / name}" for name in ("questions", "metrics", "curve", "bars")]
    runs = ["--run", str(mine / "run.trec"), "--within", str(mine / "within.trec")]
    by_hand("retrieve", *runs, "--chunks", str(mine / "run.chunks.parquet"), *timing)
    measured = json.loads((mine / "timing.json").read_bytes())
    assert measured["questions"] == 18
    output = by_hand("evaluate", "--run", str(mine / "run.trec"), *timing, *results)
    assert measured["stages_ms"].keys() == {"encode", "search", "total"}
    loaded = rf"index loaded in {measured['load_s']} s"
    spent = r"encode \d+\.\d\d/\d+\.\d\d, search \S+, total \S+"
    assert re.search(f"latency: ms a question, p50/p95: {spent}; {loaded}", output)
    found = (mine / "run.trec").read_text().splitlines(keepends=True)
    shorter = (line for line in found if int(line.split()[3]) <= 5)
    (mine / "other.trec").write_text("".join(shorter), encoding="utf-8")
    output = by_hand("evaluate", "--run", str(mine / "other.trec"), *timing, *results)
    assert "latency not measured: this run has no timing here" in output
    (mine / "timing.json").unlink()
    output = by_hand("evaluate", "--run", str(mine / "run.trec"), *timing, *results)
    assert "latency not measured" in output
