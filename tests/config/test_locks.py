"""A stage beside another one, an orphan, and inputs that change meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from bears.config.pipeline import StageFiles, guarded, locked_paths
from bears.errors import StageConflict
from tests.workspace import Workspace, environment_for

HOLD = """
import sys
from pathlib import Path
from bears.config.pipeline import locked_paths
for line in sys.stdin:
    reads, writes = [[Path(word) for word in words.split()] for words in line.split("|")]
    with locked_paths(reads, writes, "index"):
        print("held", flush=True)
        sys.stdin.readline()
    print("free", flush=True)
"""


@contextmanager
def holder() -> Iterator[tuple[subprocess.Popen[str], Callable[[str], str]]]:
    """Another process; it takes the locks of a line "READS|WRITES" and frees them at the next."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        taken, told = process.stdin, process.stdout
        assert taken
        assert told

        def send(line: str) -> str:
            print(line, file=taken, flush=True)
            return told.readline()

        yield process, send
        process.kill()


REFUSED = [
    *(("|run", "|run"), ("|run", "run|"), ("run|", "|run")),
    *(("|set", "set/queries.json|"), ("set/queries.json|", "|set")),
]
"""What another process reads and writes, and what this one would."""
TAKEN = [
    *(("run|", "run|"), ("|run", "|other")),
    *(("|runs/bm25.trec", "|runs/e5.trec"), ("runs/bm25.trec|", "|runs/e5.trec")),
]


def test_who_writes_is_alone_and_a_reader_of_a_file_holds_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("bears.config.pipeline.PATIENCE_S", 0.0)
    with holder() as (process, send):
        told = rf"^process {process.pid} \(index\) is still working on"
        for theirs, ours in [*REFUSED, *TAKEN]:
            reads, writes = ([Path(word) for word in words.split()] for words in ours.split("|"))
            refused = pytest.raises(StageConflict, match=told)
            assert send(theirs) == "held\n"
            with (
                refused if (theirs, ours) in REFUSED else nullcontext(),
                locked_paths(reads, writes, "retrieve"),
            ):
                pass
            assert send("") == "free\n"


def test_a_killed_process_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with holder() as (process, send):
        assert send("|run") == "held\n"
        killing = threading.Timer(0.5, process.kill)
        killing.start()
        with locked_paths([], [Path("run")], "retrieve"):
            assert process.wait() == -signal.SIGKILL
        killing.join()
    assert f"retrieve: process {process.pid} (index) works on" in capsys.readouterr().err


def stage_files(at: Path) -> StageFiles:
    return StageFiles({}, set(), [at / "out"], [at / "out"], [at / "code", at / "in"])


@pytest.mark.parametrize(
    "change",
    [
        lambda at: (at / "in").write_text("other"),
        lambda at: (at / "code" / "b.py").unlink(),
        lambda at: (at / "code" / "new.py").touch(),
        lambda at: (at / "in").unlink() or (at / "in").write_text("same"),
    ],
)
def test_a_stage_whose_input_changed_meanwhile_seals_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "b.py").touch()
    (tmp_path / "in").write_text("same")

    def work(meanwhile: Callable[[Path], object]) -> None:
        with guarded("retrieve", stage_files(tmp_path)):
            (tmp_path / "out").mkdir(exist_ok=True)
            (tmp_path / "code" / "__pycache__").mkdir(exist_ok=True)
            (tmp_path / "code" / "__pycache__" / "b.pyc").touch()
            meanwhile(tmp_path)

    with pytest.raises(StageConflict, match="was changed while this ran"):
        work(change)
    assert not (tmp_path / "out" / "manifest.json").exists()
    work(lambda _: None)
    assert (tmp_path / "out" / "manifest.json").exists()


ASLEEP = """
    import os
    import time
    from pathlib import Path

    Path("asleep").write_text(str(os.getpid()))
    while retrieve.depth == 2 and not Path("wake").exists():
        time.sleep(0.05)
    started = perf_counter()
    searcher = """


@pytest.mark.slow
def test_an_orphan_of_a_killed_dvc_cannot_write_what_the_next_run_measures(
    workspace: Workspace, tmp_path: Path
) -> None:
    workspace.edit("stages/retrieve.py", "\n    started = perf_counter()\n    searcher = ", ASLEEP)
    workspace.dvc("repro")
    workspace.commit()
    right, run = (workspace.text(path) for path in (METRICS, RUN))
    (workspace.root / "asleep").unlink()
    other = workspace.copied(tmp_path / "other")

    workspace.edit("params.yaml", "overrides: []", "overrides: [retrieve.depth=2]")
    with started(workspace) as dvc:
        wait_for(lambda: (workspace.root / "asleep").exists())
        dvc.kill()
    orphan = int(workspace.text("asleep"))
    written = workspace.text("data/config.yaml")
    # Another question to the same run, so that `evaluate` has something to do.
    workspace.edit("params.yaml", "retrieve.depth=2", "'evaluate.curve=[1,2]'")
    with started(workspace) as dvc:
        assert dvc.stdout
        while f"config: process {orphan} (retrieve) works on" not in (line := next(dvc.stdout)):
            assert "Running stage 'retrieve'" not in line
        assert workspace.text("data/config.yaml") == written
        # Another checkout has locks of its own.
        other.python("stages.config")
        (workspace.root / "wake").touch()
        dvc.stdout.read()
    # What the orphan wrote is not what dvc.lock says, so that DVC puts the right run in its place.
    assert (dvc.returncode, workspace.text(RUN)) == (0, run)
    workspace.git("checkout", "--quiet", ".")
    workspace.dvc("repro")
    assert workspace.text(RUN) == run
    assert workspace.text(METRICS) == right


METRICS, RUN = "metrics/retrieval.json", "data/mini/runs/bm25.trec"


def started(workspace: Workspace) -> subprocess.Popen[str]:
    site = str(workspace.root.parent / f"{workspace.root.name}.site")
    return subprocess.Popen(
        ["dvc", "repro"],
        cwd=workspace.root,
        env={**environment_for(sys.executable), "DVC_SITE_CACHE_DIR": site},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)
