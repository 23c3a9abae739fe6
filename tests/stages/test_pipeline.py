"""The whole pipeline on the benchmark that ships with the project, as its users run it.

Each test has a copy of the project in which everything ran once, with its own repository and cache.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from bears.config import read_mapping
from bears.config.code import SAYING
from bears.errors import BearsError
from tests.workspace import (
    STAGES,
    Workspace,
    cached,
    environment_for,
    finished,
    fresh,
    ran,
    sampled_with,
)

COMMITTED = ["dvc.lock", "metrics", "data/code.yaml", "data/config.yaml", "data/language.yaml"]
AFTER_A_RETRIEVER = ["config", "index", "retrieve", "evaluate", "generate", "judge"]


def questions(workspace: Workspace, benchmark: str = "mini") -> list[dict[str, str]]:
    path = f"data/{benchmark}/sampled/queries_raw.json"
    rows: list[dict[str, str]] = json.loads(workspace.text(path))
    return rows


def ndcg(workspace: Workspace) -> float:
    value: float = json.loads(workspace.text("metrics/retrieval.json"))["all"]["ndcg@10"]
    return value


def test_everything_runs_once_and_then_nothing(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    _, output = finished(tmp_path_factory.getbasetemp())
    assert ran(output) == STAGES
    again = workspace.dvc("repro")
    assert (ran(again), cached(again)) == ([], [])
    assert "Data and pipelines are up to date." in again
    assert workspace.git("status", "--short") == ""


@pytest.mark.slow
def test_another_retriever_runs_what_depends_on_it_and_switching_back_runs_config_alone(
    workspace: Workspace,
) -> None:
    before = ndcg(workspace)
    output = workspace.dvc("exp", "run", "-S", "retriever=wordllama")
    assert ran(output) == AFTER_A_RETRIEVER
    assert ndcg(workspace) != before
    assert "# What to run: one word for each group" in workspace.text("params.yaml")

    difference = json.loads(workspace.dvc("metrics", "diff", "--json"))
    selected = difference["metrics/headline.json"]["retriever"]
    assert (selected["old"], selected["new"]) == ("bm25", "wordllama")
    values = difference["metrics/headline.json"]["ndcg@10"]
    assert (values["old"], values["new"]) == (before, ndcg(workspace))

    back = workspace.dvc("exp", "run", "-S", "retriever=bm25")
    assert ran(back) == ["config"]
    assert ndcg(workspace) == before
    assert workspace.git("status", "--short") == ""


@pytest.mark.slow
def test_generators_replay_what_the_docs_say_of_them_without_a_key(workspace: Workspace) -> None:
    told = re.findall(
        r"^\| `(local|sentence)` \| (\.\d+) \| (\.\d+) \| (\d+) of 18 \| (\.\d+) ",
        workspace.text("docs/answers.md"),
        re.MULTILINE,
    )
    assert len(told) == 2
    for name, f1, exact, passed, evidence in told:
        words = ("-S", f"generator={name}", "-S", "judge=contains")
        assert ran(workspace.dvc("exp", "run", *words)) == ["config", "generate", "judge"]
        found = json.loads(workspace.text("metrics/answers.json"))["all"]
        measured = (found["answer_f1"], found["exact_match"], found["evidence_f1"])
        assert [f"{value:.3f}"[1:] for value in measured] == [f1, exact, evidence]
        assert round(found["pass_rate"] * found["n"]) == int(passed)


@pytest.mark.slow
def test_edits_of_what_only_says_something_change_no_output(workspace: Workspace) -> None:
    code, lock = workspace.text("data/code.yaml"), yaml.safe_load(workspace.text("dvc.lock"))
    for path, old, new in (
        ("bears/config/edge.py", "BUG = 70", "BUG = 71"),
        ("bears/errors.py", "lines[0].strip()", "lines[-1].strip()"),
        ("bears/files/progress.py", '"delay": 10', '"delay": 0'),
        ("bears/files/shown.py", "print(for_terminal(", "print('bears:', for_terminal("),
        ("bears/layout.py", 'Path(".bears")', 'Path(".elsewhere")'),
        ("bears/config/edge.py", ", signal.SIGHUP)", ")"),
        ("stages/__init__.py", '"hydra"', '"yaml"'),
        ("stages/sample.py", "questions, {n_documents} documents", "questions"),
    ):
        workspace.edit(path, old, new)
    assert len(SAYING) == 6
    workspace.dvc("repro", "--force")
    assert workspace.text("data/code.yaml") == code
    after = yaml.safe_load(workspace.text("dvc.lock"))
    outs = [
        {stage: made.get("outs") for stage, made in each["stages"].items()}
        for each in (lock, after)
    ]
    assert outs[0] == outs[1]
    assert ran(workspace.dvc("repro")) == []


@pytest.mark.slow
def test_an_edit_below_conf_runs_what_depends_on_it(workspace: Workspace) -> None:
    before = ndcg(workspace)
    workspace.edit("conf/retriever/bm25.yaml", "name: bm25\n", "name: bm25  # Robertson\n")
    assert ran(workspace.dvc("repro")) == ["config"]
    workspace.edit("conf/retriever/bm25.yaml", "\nk1: 0.9\n", "\nk1: 3.0\n")
    # The audit looks for candidates with the same BM25.
    assert [each for each in ran(workspace.dvc("repro")) if each != "audit"] == AFTER_A_RETRIEVER
    assert yaml.safe_load(workspace.text("data/config.yaml"))["retriever"]["k1"] == 3.0
    assert ndcg(workspace) != before


@pytest.mark.slow
def test_an_override_for_one_experiment_is_what_the_stage_does_by_hand(
    workspace: Workspace, tmp_path: Path
) -> None:
    # The kept replies need not have the texts of another seed: only `sample` runs.
    words = ["exp", "run", "-S", 'overrides=["sample.seed=7"]', "sample"]
    assert ran(workspace.dvc(*words)) == ["config", "sample"]
    assert yaml.safe_load(workspace.text("data/config.yaml"))["sample"]["seed"] == 7
    sampled = workspace.bytes_below("data/mini/sampled")
    workspace.git("checkout", "--quiet", "--", ".")
    assert sampled_with(workspace, tmp_path / "by-hand", "sample.seed=7") == sampled


@pytest.mark.slow
def test_an_unknown_choice_names_the_right_ones_and_does_no_harm(workspace: Workspace) -> None:
    output = workspace.dvc("exp", "run", "-S", "retriever=nosuch", code=255)
    assert "Available options in 'retriever':" in output
    assert "\tbm25\n" in output
    # DVC leaves the wrong word in params.yaml.
    right = ["-S", "retriever=bm25"]
    output = workspace.dvc("exp", "run", *right, "-S", "benchmark=nosuch", code=255)
    assert "Available options in 'benchmark':" in output
    assert "\tmini\n" in output
    assert "Traceback" not in output
    output = workspace.dvc("exp", "run", *right, "-S", "benchmark=mini")
    assert set(ran(output)) <= {"config"}
    assert workspace.git("status", "--short") == ""


@pytest.mark.slow
def test_a_missing_translation_stops_the_run_until_it_is_there(workspace: Workspace) -> None:
    path = workspace.root / "data/memory/mini.jsonl"
    complete = path.read_bytes()
    path.write_bytes(b"".join(complete.splitlines(keepends=True)[2:]))
    output = workspace.dvc("repro", code=255)
    assert "missing from the kept replies: 2 translations into zh-Hant-TW by published (" in output
    assert "bears replies import" in output
    assert ran(output) == ["translate"]
    assert not (workspace.root / "data/mini/translated").exists()

    path.write_bytes(complete)
    assert ran(workspace.dvc("repro")) == []
    assert workspace.git("status", "--short") == ""


@pytest.mark.slow
def test_a_translation_that_is_none_stops_the_run_at_verify(workspace: Workspace) -> None:
    path = workspace.root / "data/memory/mini.jsonl"
    entries = [json.loads(line) for line in path.read_bytes().splitlines()]
    asked = questions(workspace)[9]["question"]
    for entry in entries:
        if entry["text"] == asked:
            entry["translation"] = asked
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    path.write_text(text, encoding="utf-8")
    output = workspace.dvc("repro", code=255)
    assert ran(output) == ["translate", "verify"]
    victim = questions(workspace)[9]["question_id"]
    told = re.findall(r"^error: (\w+): (\S+): ", output, re.MULTILINE)
    assert ("echo", victim) in told
    assert {record_id for _, record_id in told} == {victim}
    assert f"{len(told)} findings of severity error" in output
    metrics = json.loads(workspace.text("metrics/verification.json"))
    assert metrics["errors"] == len(told)
    assert {check: metrics["gates"][check] for check, _ in told} == dict.fromkeys(dict(told), 1)


@pytest.mark.slow
def test_a_replaced_question_changes_that_question_and_can_be_undone(
    workspace: Workspace,
) -> None:
    before = workspace.bytes_below("data/mini/sampled")
    asked = questions(workspace)
    victim = asked[9]["question_id"]
    assert asked[9]["source_dataset"] == "hotpotqa"
    workspace.python("bears", "replace", victim, "--reason", "x")
    assert ran(workspace.dvc("repro", "sample")) == ["config", "sample"]
    changed = [
        (old["source_dataset"], new["source_dataset"])
        for old, new in zip(asked, questions(workspace), strict=True)
        if old != new
    ]
    assert changed == [("hotpotqa", "hotpotqa")]
    assert victim not in workspace.text("data/mini/sampled/queries_raw.json")
    assert json.loads(workspace.text("data/mini/sampled/notes.json"))["ledger"] == [[victim]]
    output = workspace.python("bears", "replace", victim, "--reason", "x", code=1)
    assert f"{victim} is replaced already" in output

    ledger = workspace.root / "conf/ledger/mini.yaml"
    entries = {**yaml.safe_load(ledger.read_text(encoding="utf-8")), "replacements": []}
    ledger.write_text(yaml.safe_dump(entries), encoding="utf-8")
    undone = workspace.dvc("repro")
    assert ran(undone) == ["config"]
    assert workspace.bytes_below("data/mini/sampled") == before
    ledger.unlink()
    workspace.dvc("repro")
    assert workspace.git("status", "--short") == ""


def test_no_committed_file_holds_a_timing(workspace: Workspace) -> None:
    timing = json.loads(workspace.text("data/mini/runs/bm25.timing.json"))
    assert timing.keys() >= {"stages_ms", "seconds_per_question", "load_s"}
    assert not [path for path in workspace.git("ls-files").split() if "timing.json" in path]
    for name in ["dvc.lock", *workspace.git("ls-files", "metrics", "data").split()]:
        found = re.search(r"stages_ms|seconds_per_question\"|load_s|index_s", workspace.text(name))
        assert not found, name
    assert "outs:\n    - path: data/mini/runs/bm25.timing.json" not in workspace.text("dvc.lock")


@pytest.mark.slow
def test_a_queued_sweep_gives_what_single_runs_give(workspace: Workspace) -> None:
    before = ndcg(workspace)
    workspace.dvc("exp", "run", "--queue", "-S", "retriever=bm25,wordllama")
    workspace.dvc("queue", "start", "-j", "2")
    try:
        for task in re.findall(r"^(\w{7}) ", workspace.dvc("queue", "status"), re.MULTILINE):
            workspace.dvc("queue", "logs", task, "--follow")
        status = workspace.dvc("queue", "status")
    finally:
        workspace.dvc("queue", "stop", "--kill")
    assert status.count("Success") == 2, status

    shown = json.loads(workspace.dvc("exp", "show", "--json"))
    results = {}
    for experiment in shown[1]["experiments"]:
        data = experiment["revs"][0]["data"]
        retriever = data["params"]["params.yaml"]["data"]["retriever"]
        results[retriever] = data["metrics"]["metrics/headline.json"]["data"]["ndcg@10"]
    workspace.dvc("exp", "run", "-S", "retriever=wordllama")
    assert results == {"bm25": before, "wordllama": ndcg(workspace)}


@pytest.mark.slow
def test_an_edit_of_what_a_stage_runs_makes_another_result_and_undoing_it_the_old_one(
    workspace: Workspace,
) -> None:
    path, run = workspace.root / "bears" / "files" / "trec.py", "data/mini/runs/bm25.trec"
    before, written = path.read_text(encoding="utf-8"), workspace.text(run)
    changed = before.replace("float(hit.score)", "2 * float(hit.score)")
    assert changed != before
    path.write_text(changed, encoding="utf-8")
    # `sample` ranks documents for questions that are made.
    again = [each for each in ran(workspace.dvc("repro")) if each != "sample"]
    assert again == ["config", "retrieve", "evaluate", "generate", "judge"]
    assert workspace.text(run) != written
    path.write_text(before, encoding="utf-8")
    assert ran(workspace.dvc("repro")) == ["config"]
    assert workspace.text(run) == written
    commented = before.replace('"""', '"""Edited: ', 1) + "\n# A comment.\n"
    path.write_text(commented, encoding="utf-8")
    assert ran(workspace.dvc("repro")) == ["config"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("umask", "variables"),
    [
        ("077", {"LC_ALL": "C", "TZ": "Asia/Taipei", "PYTHONHASHSEED": "1"}),
        ("000", {"LC_ALL": "C.UTF-8", "TZ": "America/New_York", "PYTHONHASHSEED": "4242"}),
    ],
)
def test_what_is_committed_regenerates_byte_for_byte(
    workspace: Workspace, umask: str, variables: dict[str, str]
) -> None:
    shutil.rmtree(workspace.root / ".dvc/cache")
    shutil.rmtree(workspace.root / ".dvc/tmp")
    command = f"umask {umask} && dvc repro --force --no-run-cache"
    assert ran(workspace.run("sh", "-c", command, variables=variables)) == STAGES
    workspace.git("diff", "--exit-code", "HEAD", "--", *COMMITTED)


@pytest.mark.slow
def test_without_a_repository_it_runs_all_the_same(tmp_path: Path) -> None:
    workspace = fresh(tmp_path / "project")
    shutil.rmtree(workspace.root / ".git")
    workspace.dvc("config", "--local", "core.no_scm", "true")
    workspace.dvc("repro")
    assert f"{ndcg(workspace):.5f}"[:5] in workspace.dvc("metrics", "show")


@pytest.mark.slow
def test_bears_v1_samples_what_was_published_also_in_a_temporary_copy(
    workspace: Workspace, shared_data: Path
) -> None:
    # The mirror is relative to the user's own checkout, wherever the experiment runs.
    mirror = os.path.relpath(shared_data / "raw", workspace.root)
    words = ["-S", "benchmark=bears-v1", "-S", f"mirror={mirror}"]
    output = workspace.dvc("exp", "run", "--temp", *words, "sample")
    assert ran(output) == ["config", "download", "sample"]
    assert ran(workspace.dvc("exp", "run", *words, "sample")) == ["config"]
    made = workspace.root / "data/bears-v1/sampled/queries_raw.json"
    assert made.read_bytes() == (shared_data / "bears-published/queries_raw.json").read_bytes()


def killed_in(workspace: Workspace, stage: str, moment: float, whole: bool) -> None:
    """Kill a forced run from a stage on, so many seconds after it began this stage.

    Args:
        whole: its stages are killed with it, as by a machine that stops; else dvc alone is, and
            the stage goes on as an orphan.
    """
    site = str(workspace.root.parent / f"{workspace.root.name}.site")
    with subprocess.Popen(
        ["dvc", "repro", "--force", "--downstream", stage],
        cwd=workspace.root,
        env={**environment_for(sys.executable), "DVC_SITE_CACHE_DIR": site},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as dvc:
        assert dvc.stdout
        assert any(f"Running stage '{stage}'" in line for line in dvc.stdout)
        time.sleep(moment)
        (os.killpg if whole else os.kill)(dvc.pid, signal.SIGKILL)
        # An orphan holds the pipe open for as long as it works.
        dvc.stdout.close()


def is_cut(file: Path) -> bool:
    try:
        return not read_mapping(file)
    except BearsError:
        return True


@pytest.mark.slow
def test_after_a_kill_in_any_stage_the_next_run_makes_what_is_committed(
    workspace: Workspace,
) -> None:
    outputs, dice = workspace.bytes_below("data/mini/runs"), random.Random(14)
    lock = yaml.safe_load(workspace.text("dvc.lock"))
    for number, stage in enumerate(STAGES):
        killed_in(workspace, stage, dice.random(), whole=number % 2 == 0)
        # DVC writes these in place, so a kill may cut them; docs/troubleshooting.md has the fixes.
        if is_cut(workspace.root / "dvc.lock"):
            workspace.git("checkout", "HEAD", "--", "dvc.lock")
        if is_cut(rwlock := workspace.root / ".dvc/tmp/rwlock"):
            rwlock.unlink(missing_ok=True)
        workspace.dvc("repro")
        # A lock file that was cut by the kill is made again, in the order of the stages.
        assert workspace.git("status", "--short", ":!dvc.lock") == "", (number, stage)
        assert yaml.safe_load(workspace.text("dvc.lock")) == lock, (number, stage)
    after = workspace.bytes_below("data/mini/runs")
    same = {name for name in outputs if not name.endswith("timing.json")}
    assert {name: after[name] for name in same} == {name: outputs[name] for name in same}
