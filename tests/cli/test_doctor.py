"""`python -m bears doctor`: a checkout that is broken for real, what it says, and its mends."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.workspace import ROOT, Workspace, environment_for, finished

HEALTHY = "nothing found. Looked at: "


@pytest.fixture
def workspace(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return finished(tmp_path_factory.getbasetemp())[0].copied(tmp_path / "project")


def examined(workspace: Workspace, *words: str, code: int = 1) -> str:
    """What doctor prints, after a look that it changed nothing."""
    before = workspace.bytes_below(".")
    printed = workspace.python("bears", "doctor", *words, code=code)
    after = workspace.bytes_below(".")
    unlike = {name for name in before | after if before.get(name) != after.get(name)}
    assert {name for name in unlike if "__pycache__" not in name} == set()
    return printed


def mended(workspace: Workspace, printed: str) -> None:
    """Run every mend, in order, as a person would copy it into a shell."""
    mends = re.findall(r"^    mend: (.*)$", printed, re.MULTILINE)
    assert len(mends) == printed.count("\n    mend: ")
    for mend in mends:
        workspace.run("bash", "-c", mend)


def flip(path: Path) -> None:
    """Another byte in the middle, and the same size and time: what only a digest can tell."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(status.st_mode)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def cached(workspace: Workspace, path: str) -> Path:
    """The object of DVC's cache with an output, or with a file of an output that is a folder."""
    objects = workspace.root / ".dvc" / "cache" / "files" / "md5"
    for stage in yaml.safe_load(workspace.text("dvc.lock"))["stages"].values():
        for out in stage.get("outs", []):
            digest = out["md5"]
            if path.startswith(out["path"] + "/"):
                entries = json.loads((objects / digest[:2] / digest[2:]).read_text())
                below = path.removeprefix(out["path"] + "/")
                digest = next(entry["md5"] for entry in entries if entry["relpath"] == below)
            elif path != out["path"]:
                continue
            return objects / str(digest[:2]) / str(digest[2:])
    raise AssertionError(path)


def test_a_healthy_checkout_has_nothing_to_mend(workspace: Workspace) -> None:
    assert examined(workspace, code=0).startswith(HEALTHY)
    workspace.edit("conf/retriever/bm25.yaml", "\nk1: 0.9\n", "\nk1: 3.0\n")
    printed = examined(workspace, "--quick", code=0)
    assert "retriever changed in params.yaml or conf/ since the last `dvc repro`" in printed


KILLED = '{"write": {"/x": {"pid": 4194305, "cmd": "dvc repro"}}}'
WRONG = (ROOT / "params.yaml").read_bytes().replace(b"retriever: bm25", b"retriever: bm52")
DAMAGES = {
    "cut": [
        (".git/index.lock", b"", "index.lock was left by a git or dvc that was killed"),
        (".git/HEAD.lock", b"", ".git/HEAD.lock was left by a git or dvc"),
        (".git/refs/exps/exec/EXEC_MERGE.lock", b"", "EXEC_MERGE.lock was left by a git or dvc"),
        (".dvc/config.lock", b"", ".dvc/config.lock was left by a git or dvc"),
        (
            "dvc.lock",
            b"schema: '2.0'\nstages:\n  config:\n    cmd: python -m\n    dep",
            "dvc.lock cannot be read",
        ),
        (".dvc/tmp/rwlock", b'{"wri', ".dvc/tmp/rwlock is empty, cut or damaged"),
        (".dvc/tmp/exps/rwlock", KILLED.encode(), "entries of a dvc that was killed: 4194305"),
        ("data/memory/mini.jsonl", b'{"field": "content", "k', "mini.jsonl, line 1: not valid"),
        ("data/mini/runs/.bm25.trec.x.tmp", b"q1 Q0", ".bm25.trec.x.tmp (0.0 MB) was left"),
    ],
    "emptied": [
        ("dvc.lock", b"", "dvc.lock is empty"),
        (".dvc/tmp/rwlock", b"", ".dvc/tmp/rwlock is empty, cut or damaged"),
        ("data/memory/mini.jsonl", b"", "hotpotqa, 2wiki must be translated into zh-Hant-TW"),
        ("data/language.yaml", b"", "the composed configuration cannot be read"),
    ],
    "of other bytes": [
        ("dvc.lock", bytes(range(256)), "dvc.lock cannot be read"),
        (".dvc/tmp/rwlock", b"[]", ".dvc/tmp/rwlock is empty, cut or damaged"),
        ("params.yaml", "benchmark: mini\n".encode("utf-16"), "params.yaml and conf/ give no"),
    ],
    "of wrong words": [
        ("params.yaml", WRONG, "Could not find 'retriever/bm52'"),
        (
            "dvc.lock",
            b"schema: '2.0'\nstages:\n  config:\n    cmd: python\n    outs:\n    - path:\n",
            "dvc.lock is damaged or cut; DVC refuses it",
        ),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("damages", DAMAGES.values(), ids=DAMAGES)
def test_files_that_a_kill_cut_are_named_and_the_printed_commands_mend_them(
    workspace: Workspace, damages: list[tuple[str, bytes, str]]
) -> None:
    for path, content, _ in damages:
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_bytes(content)
    printed = examined(workspace, "--quick")
    assert [sentence for *_, sentence in damages if sentence not in printed] == []
    mended(workspace, printed)
    assert HEALTHY in examined(workspace, "--quick", code=0)
    assert "Data and pipelines are up to date." in workspace.dvc("repro")


@pytest.mark.slow
def test_a_flipped_bit_in_cache_or_output_is_found_and_its_output_made_again(
    workspace: Workspace,
) -> None:
    whole = workspace.bytes_below("data/mini")
    run, index = "data/mini/runs/bm25.trec", "data/mini/index/bm25/counts.npy"
    damaged = {path: cached(workspace, path) for path in (run, index)}
    for path, object_ in damaged.items():
        flip(object_)
        (workspace.root / path).unlink()
    # As DVC brings it back: it takes the object for what its name says, and says nothing.
    workspace.dvc("checkout")
    flip(cached(workspace, "data/mini/runs/bm25.questions.csv"))
    flip(workspace.root / "data/mini/translated/queries.json")
    assert "Data and pipelines are up to date." in workspace.dvc("status")

    printed = examined(workspace)
    for path in ("data/mini/runs/bm25.trec", "data/mini/index/bm25", "data/mini/translated"):
        assert f"{path} is not what dvc.lock says" in printed
    assert "bm25.questions.csv of evaluate is damaged; in the workspace it is whole" in printed
    mended(workspace, printed)
    assert examined(workspace, code=0).startswith(HEALTHY)
    again = workspace.bytes_below("data/mini")
    assert {p for p in whole if not p.endswith("timing.json") and whole[p] != again[p]} == set()
    assert workspace.git("status", "--short") == ""


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


@pytest.mark.skipif(not Path("/proc").exists(), reason="it looks for the stage in /proc")
def test_what_a_killed_experiment_left_is_ended_and_git_is_back_on_its_branch(
    killed: tuple[Workspace, int],
) -> None:
    workspace, stage = killed
    printed = examined(workspace, "--quick")
    assert f"process {stage} runs stages.sample here, but the dvc that began it is gone" in printed
    assert "was killed and left git on no branch; it was on main" in printed
    mended(workspace, printed)
    deadline = time.monotonic() + 30
    while stage_of(workspace):
        assert time.monotonic() < deadline
    assert workspace.git("symbolic-ref", "--short", "HEAD") == "main\n"
    assert HEALTHY in examined(workspace, "--quick", code=0)


def test_it_names_who_holds_the_lock_of_dvc(workspace: Workspace) -> None:
    hold = "import zc.lockfile, sys; lock = zc.lockfile.LockFile('.dvc/tmp/lock'); print(); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold],
        cwd=workspace.root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout
        holder.stdout.readline()
        printed = workspace.python("bears", "doctor", "--quick", code=1)
        assert f"process {holder.pid}: " in printed
        mended(workspace, printed)
        assert holder.wait() == -signal.SIGTERM
    assert HEALTHY in examined(workspace, "--quick", code=0)


LOCKS = ("HEAD.lock", "refs/exps/exec/EXEC_MERGE.lock", "packed-refs.lock")


def test_every_lock_of_a_killed_git_is_found_and_none_of_a_living_one(workspace: Workspace) -> None:
    for name in LOCKS:
        (workspace.root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / ".git" / name).touch()
    # What is no lock of git, or does not stop anybody.
    copied = workspace.root / ".dvc" / "tmp" / "exps" / "tmpcopy" / ".git"
    copied.mkdir(parents=True)
    for harmless in (copied.parent / "dvc.lock", workspace.root / ".dvc" / "tmp" / "rwlock.lock"):
        harmless.write_text("1234\n")
    (copied / "index.lock").touch()
    living = ["git", "cat-file", "--batch"]
    with subprocess.Popen(living, cwd=workspace.root, stdin=subprocess.PIPE) as process:
        assert "was left by" not in workspace.python("bears", "doctor", "--quick", code=0)
        process.communicate()
    printed = examined(workspace, "--quick")
    found = re.findall(r"^(\S+) was left by a git or dvc", printed, re.MULTILINE)
    wanted = [workspace.root / ".git" / name for name in LOCKS]
    assert sorted(found) == sorted(map(str, [*wanted, copied / "index.lock"]))
    mended(workspace, printed)
    assert HEALTHY in examined(workspace, "--quick", code=0)


@pytest.mark.slow
def test_a_damaged_database_of_hashes_is_removed(workspace: Workspace) -> None:
    workspace.dvc("status")
    databases = list((workspace.root.parent / "project.site").rglob("cache.db"))
    for database in databases:
        database.write_bytes(b"no database" * 100)
    assert databases
    assert "file is not a database" in workspace.dvc("status", code=255)
    printed = examined(workspace, "--quick")
    assert "cache.db is damaged" in printed
    mended(workspace, printed)
    assert "Data and pipelines are up to date." in workspace.dvc("status")


def test_without_an_identity_git_is_given_one(workspace: Workspace) -> None:
    without = {"GIT_COMMITTER_NAME": "", "GIT_COMMITTER_EMAIL": ""}
    words = (sys.executable, "-m", "bears", "doctor", "--quick")
    printed = workspace.run(*words, code=1, variables=without)
    assert "git has no user.name" in printed
    mended(workspace, printed)
    assert HEALTHY in workspace.run(*words, variables=without)


def everything_gone(workspace: Workspace) -> None:
    for name in ("params.yaml", "dvc.lock", "dvc.yaml", "pyproject.toml", "data/config.yaml"):
        (workspace.root / name).write_bytes(os.urandom(999))
    # Nobody writes into them: who opens one waits for ever.
    for name in ("dvc.yaml", ".dvc/tmp/rwlock", ".dvc/tmp/lock"):
        (workspace.root / name).unlink()
        os.mkfifo(workspace.root / name)
    for name in (".git", "conf", "data/memory"):
        shutil.rmtree(workspace.root / name)
        (workspace.root / name).touch()


def nothing_writable(workspace: Workspace) -> None:
    for path in [workspace.root, *workspace.root.rglob("*")]:
        path.chmod(path.stat().st_mode & ~0o222)


@pytest.mark.parametrize("broken", [everything_gone, nothing_writable])
def test_it_works_where_nothing_else_does(
    workspace: Workspace, broken: Callable[[Workspace], None]
) -> None:
    broken(workspace)
    try:
        printed = workspace.python("bears", "doctor", code=1 if broken is everything_gone else 0)
    finally:
        workspace.run("chmod", "-R", "u+w", ".")
    assert "Traceback" not in printed
    if broken is everything_gone:
        for name in ("params.yaml", "dvc.lock", "git refuses this repository"):
            assert name in printed


def test_without_packages_it_says_which_and_looks_at_what_it_can(workspace: Workspace) -> None:
    (workspace.root / "dvc.lock").write_bytes(b"")
    # -S: no installed packages.
    bare = [sys.executable, "-S", "-m", "bears", "doctor"]
    printed = workspace.run(*bare, code=1, variables={"PATH": "/usr/bin:/bin"})
    assert re.search(r"lacks the packages .*\bdvc, .*, numpy, ", printed)
    assert "dvc is not on PATH" in printed
    assert "could not be looked at: dvc.lock: ModuleNotFound" in printed
    assert "Traceback" not in printed


def test_outside_a_checkout_it_says_where_one_is(workspace: Workspace) -> None:
    for folder, there in ((workspace.root / "tests", workspace.root), (Path("/"), "CHECKOUT")):
        done = subprocess.run(
            [sys.executable, "-m", "bears", "doctor"],
            cwd=folder,
            env=environment_for(sys.executable) | {"PYTHONPATH": str(ROOT)},
            capture_output=True,
            encoding="utf-8",
        )
        assert done.returncode == 1
        assert f"mend: cd {there}\n" in done.stdout
