"""`bears doctor`: a checkout that is broken for real, what it says, and its fixes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bears.cli import main
from tests.workspace import Workspace, environment_for

HEALTHY = "nothing found. Checked: "


def examined(workspace: Workspace, *words: str, code: int = 1) -> str:
    """What doctor prints, after a look that it changed nothing."""
    before = workspace.bytes_below(".")
    printed = workspace.python("bears", "doctor", *words, code=code)
    after = workspace.bytes_below(".")
    unlike = {name for name in before | after if before.get(name) != after.get(name)}
    assert {name for name in unlike if "__pycache__" not in name} == set()
    return printed


def fixed(workspace: Workspace, printed: str) -> None:
    """Run every fix, in order, as a person would copy it into a shell."""
    fixes = re.findall(r"^    fix: (.*)$", printed, re.MULTILINE)
    assert len(fixes) == printed.count("\n    fix: ")
    for fix in fixes:
        workspace.run("bash", "-c", fix)


@pytest.mark.slow
def test_a_healthy_checkout_has_nothing_to_fix_even_while_a_process_writes_there(
    workspace: Workspace,
) -> None:
    with (workspace.root / "data/mini/runs/.bm25.trec.x.tmp").open("wb"):
        assert examined(workspace, code=0).startswith(HEALTHY)


LEFT = {
    ".git/index.lock": b"",
    ".dvc/config.lock": b"",
    ".dvc/tmp/rwlock": b'{"wri',
    ".dvc/tmp/exps/rwlock": b'{"write": {"/x": {"pid": 4194305, "cmd": "dvc repro"}}}',
}


@pytest.mark.slow
def test_files_that_a_kill_left_are_named_and_the_printed_commands_remove_them(
    workspace: Workspace,
) -> None:
    for path, content in LEFT.items():
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_bytes(content)
    printed = examined(workspace)
    assert [path for path in LEFT if f"{path} was left by a " not in printed] == []
    fixed(workspace, printed)
    assert HEALTHY in examined(workspace, code=0)
    assert "Data and pipelines are up to date." in workspace.dvc("repro")


@pytest.fixture
def killed(workspace: Workspace) -> Iterator[tuple[Workspace, int]]:
    """A `dvc exp run` that was killed while its stage runs, and the stage that goes on."""
    program = workspace.text("stages/sample.py")
    (workspace.root / "stages" / "sample.py").write_text(
        f"import time\n\ntime.sleep(600)\n{program}"
    )
    variables = {"DVC_SITE_CACHE_DIR": str(workspace.root.parent / "project.site")}
    process = subprocess.Popen(
        ["dvc", "exp", "run"], cwd=workspace.root, env=environment_for(sys.executable) | variables
    )
    deadline = time.monotonic() + 120
    while not (found := stage_of(workspace)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.kill()
    process.wait()
    yield workspace, found
    if stage_of(workspace):
        os.kill(found, signal.SIGKILL)


def stage_of(workspace: Workspace) -> int:
    """The process that runs a stage there; 0 for none."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"stages.sample" in words and (folder / "cwd").resolve() == workspace.root:
                return int(folder.name)
        except OSError:
            continue
    return 0


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc").exists(), reason="it looks for the stage in /proc")
def test_what_a_killed_experiment_left_is_ended_and_git_is_back_on_its_branch(
    killed: tuple[Workspace, int],
) -> None:
    workspace, stage = killed
    printed = examined(workspace)
    assert (
        f"process {stage} runs stages.sample here, but the dvc that started it is gone" in printed
    )
    assert "was killed and left git on no branch; it was on main" in printed
    fixed(workspace, printed)
    deadline = time.monotonic() + 30
    while stage_of(workspace):
        assert time.monotonic() < deadline
    assert workspace.git("symbolic-ref", "--short", "HEAD") == "main\n"
    assert HEALTHY in examined(workspace, code=0)


LOCKS = ("HEAD.lock", "refs/exps/exec/EXEC_MERGE.lock", "packed-refs.lock")


@pytest.mark.slow
def test_every_lock_of_a_killed_git_is_found_and_none_of_a_living_one(workspace: Workspace) -> None:
    for name in LOCKS:
        (workspace.root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / ".git" / name).touch()
    # Not locks of git, or locks that block no one.
    copied = workspace.root / ".dvc" / "tmp" / "exps" / "tmpcopy" / ".git"
    copied.mkdir(parents=True)
    for harmless in (copied.parent / "dvc.lock", workspace.root / ".dvc" / "tmp" / "rwlock.lock"):
        harmless.write_text("1234\n")
    (copied / "index.lock").touch()
    living = ["git", "cat-file", "--batch"]
    with subprocess.Popen(living, cwd=workspace.root, stdin=subprocess.PIPE) as process:
        assert "was left by" not in workspace.python("bears", "doctor", code=0)
        process.communicate()
    printed = examined(workspace)
    found = re.findall(r"^(\S+) was left by a git or dvc", printed, re.MULTILINE)
    wanted = [workspace.root / ".git" / name for name in LOCKS]
    assert sorted(found) == sorted(map(str, [*wanted, copied / "index.lock"]))
    fixed(workspace, printed)
    assert HEALTHY in examined(workspace, code=0)


def test_outside_a_checkout_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["doctor"]) == 1
    assert capsys.readouterr().err.startswith(f"bears: {tmp_path} is not a project: ")
