"""The journal: what was reported as kept is there, whatever was killed, torn or flipped."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bears.files.journal import Journal

ROOT = Path(__file__).resolve().parents[2]

# Prints a row's id from the done-callback, to a file: a full pipe would hold up the writer.
APPENDER = """
import os, sys
from pathlib import Path
from bears.files.journal import Journal
path, name = Path(sys.argv[1]), sys.argv[2]
with Journal(path).writer() as append:
    n = 0
    while True:
        futures = []
        for _ in range(40):
            n += 1
            length = n * 7919 % 30000 if n % 9 == 0 else 20
            row = {"id": f"{name}-{n}", "text": "漢\\u2028" * length}
            future = append(row)
            future.add_done_callback(
                lambda f, i=row["id"]: f.exception() is None and os.write(1, f"{i}\\n".encode())
            )
            futures.append(future)
        for future in futures[-1:]:
            future.result()
"""

HOLDER = """
import sys, time
from pathlib import Path
from bears.files.journal import Journal
with Journal(Path(sys.argv[1])).exclusive():
    print("held", flush=True)
    time.sleep(60)
"""

LIMITED = """
import resource, sys
from pathlib import Path
from bears.files.journal import Journal
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
kept = []
try:
    with Journal(Path(sys.argv[1])).writer() as append:
        for n in range(100):
            future = append({"id": n, "text": "x" * 1000})
            try:
                future.result()
                kept.append(n)
            except OSError as error:
                assert error.filename == sys.argv[1], error
except OSError as error:
    print(len(kept), error.errno)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def write(path: Path, *rows: dict[str, Any]) -> None:
    with Journal(path).writer() as append:
        for row in rows:
            append(row)


def read(path: Path) -> tuple[list[dict[str, Any]], list[tuple[int, str]]]:
    journal = Journal(path)
    return list(journal.rows()), journal.damaged


@contextmanager
def child(script: str, *arguments: object, stdout: Any) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=stdout)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def reported(folder: Path) -> set[str]:
    """The ids that the children printed, whole lines only."""
    texts = [file.read_text() for file in folder.glob("*.out")]
    return {line[:-1] for text in texts for line in text.splitlines(True) if line.endswith("\n")}


def kill_at_random(path: Path, rounds: int, at_once: int) -> None:
    chance = random.Random(rounds)
    for number in range(rounds):
        with ExitStack() as stack:
            outs = [path.with_name(f"{number}.{one}.out") for one in range(at_once)]
            processes = [
                stack.enter_context(
                    child(APPENDER, path, out.stem, stdout=stack.enter_context(out.open("wb")))
                )
                for out in outs
            ]
            if number % 5:  # one in five is killed at its start, the others at work
                while not all(out.stat().st_size for out in outs):
                    assert all(process.poll() is None for process in processes)
                    time.sleep(0.002)
            time.sleep(chance.random() * 0.05)
            for process in processes:
                process.kill()
        rows, damaged = read(path)
        assert reported(path.parent) <= {row["id"] for row in rows}
        assert len(damaged) <= (number + 1) * at_once
    write(path, {"id": "last"})
    rows, _ = read(path)
    assert rows[-1] == {"id": "last"}
    assert len({row["id"] for row in rows}) == len(rows)
    assert len(rows) > rounds


@pytest.mark.slow
def test_two_processes_that_append_at_once_survive_sigkill(path: Path) -> None:
    kill_at_random(path, 8, at_once=2)


@pytest.mark.slow
def test_what_was_reported_survives_200_sigkills(path: Path) -> None:
    kill_at_random(path, 200, at_once=1)


def test_two_writers_at_once_lose_nothing(path: Path) -> None:
    def work(name: str) -> None:
        with Journal(path).writer() as append:
            for n in range(300):
                append({"id": f"{name}{n}"}).result()

    with ThreadPoolExecutor() as pool:
        list(pool.map(work, "ab"))
    rows, damaged = read(path)
    assert damaged == []
    for name in "ab":  # each writer's rows in its order
        own = [row["id"] for row in rows if row["id"].startswith(name)]
        assert own == [f"{name}{n}" for n in range(300)]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@pytest.mark.slow
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.dictionaries(st.text(st.characters()), JSON), max_size=4))
def test_what_is_read_is_what_was_appended(path: Path, rows: list[dict[str, Any]]) -> None:
    path.unlink(missing_ok=True)
    write(path, *rows)
    assert read(path) == (rows, [])


@pytest.mark.parametrize(
    "row",
    [
        {"text": "one\u2028two\u2029three\x85four\r\nfive\x00"},
        {"text": "half a pair \ud83d"},
        {"text": "long " * 4_000_000},
        {"checksum": "one of its own", "row": {}},
        {},
    ],
    ids=["line separators", "lone surrogate", "huge", "field named checksum", "empty"],
)
def test_awkward_rows_come_back(tmp_path: Path, row: dict[str, Any]) -> None:
    path = tmp_path / "a" / "b" / "journal.jsonl"  # folders are made
    write(path, row, {"id": 2})
    assert read(path) == ([row, {"id": 2}], [])


def test_a_line_is_canonical_json_and_half_surrogates_do_not_spoil_utf8(path: Path) -> None:
    write(path, {"b": "漢", "a": 1}, {"text": "\ud83d"})
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert '"row":{"a":1,"b":"漢"}' in lines[0]
    assert json.loads(lines[1])["row"] == {"text": "\ud83d"}


def test_an_absent_and_an_empty_file_have_no_rows(path: Path) -> None:
    assert read(path) == ([], [])
    path.write_bytes(b"")
    assert read(path) == ([], [])
    assert not path.with_name("journal.jsonl.lock").exists()


def test_every_possible_torn_tail_costs_one_row_and_not_the_next(path: Path) -> None:
    write(path, {"id": 1}, {"id": 2, "text": "漢字"})
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for length in range(first + 1, len(whole) - 1):
        path.write_bytes(whole[:length])
        rows, damaged = read(path)
        assert (rows, [line for line, _ in damaged]) == ([{"id": 1}], [2])
        assert "torn" in damaged[0][1]
        write(path, {"id": 3})
        rows, damaged = read(path)
        assert (rows, [line for line, _ in damaged]) == ([{"id": 1}, {"id": 3}], [2])
    path.write_bytes(whole[:-1])  # a row that lacks only its line end is whole
    assert read(path) == ([{"id": 1}, {"id": 2, "text": "漢字"}], [])
    write(path, {"id": 3})
    assert [row["id"] for row in read(path)[0]] == [1, 2, 3]


def test_every_flipped_bit_is_found_and_spares_the_other_rows(path: Path) -> None:
    write(path, {"id": 1}, {"id": 2, "text": "漢字"}, {"id": 3})
    whole = path.read_bytes()
    start = whole.index(b"\n") + 1
    end = whole.index(b"\n", start)
    for place in range(start, end):
        for bit in range(8):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << bit
            path.write_bytes(flipped)
            rows, damaged = read(path)
            assert rows == [{"id": 1}, {"id": 3}]
            assert {line for line, _ in damaged} <= {2, 3}
            assert damaged


def test_json_without_a_checksum_is_not_trusted(path: Path) -> None:
    path.write_text('{"id":1}\n{"checksum":"' + "0" * 64 + '","row":{"id":1}}\n\n')
    rows, damaged = read(path)
    assert rows == []
    assert [line for line, _ in damaged] == [1, 2, 3]


@pytest.mark.parametrize("row", [{"x": float("nan")}, {"x": object()}, {1: 1, "a": 1}, ["x"]])
def test_a_row_that_json_cannot_hold_is_refused_at_once(path: Path, row: Any) -> None:
    with Journal(path).writer() as append:
        with pytest.raises((TypeError, ValueError)):
            append(row)
        append({"id": 1})
    assert read(path) == ([{"id": 1}], [])


def test_many_tasks_append_and_one_that_is_cancelled_does_not_take_back_its_row(
    path: Path,
) -> None:
    async def work() -> None:
        with Journal(path).writer() as append:
            waits = [asyncio.wrap_future(append({"id": n})) for n in range(2000)]
            for wait in waits[:50]:
                wait.cancel()
            await asyncio.gather(*waits[50:])

    asyncio.run(work())
    assert [row["id"] for row in read(path)[0]] == list(range(2000))


def test_a_future_is_done_only_after_the_fsync_and_one_serves_many(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go, calls, done_before = threading.Event(), [], []
    futures: list[Future[None]] = []
    fsync = os.fsync

    def slow_fsync(descriptor: int) -> None:
        go.wait(10)
        calls.append(descriptor)
        done_before.append(sum(future.done() for future in futures))
        fsync(descriptor)

    with Journal(path).writer() as append:
        monkeypatch.setattr(os, "fsync", slow_fsync)
        futures.extend(append({"id": n}) for n in range(500))
        go.set()
    assert all(future.done() for future in futures)
    assert len(calls) <= 3
    assert done_before[0] == 0


@pytest.mark.parametrize(
    ("error", "told"),
    [(OSError(errno.EIO, "Input/output error"), r"journal\.jsonl"), (MemoryError("full"), "full")],
)
def test_an_error_of_the_thread_reaches_futures_and_close_and_ends_the_writing(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    futures: list[Future[None]] = []

    def work() -> None:
        with Journal(path).writer() as append:
            append({"id": 0}).result()
            monkeypatch.setattr(os, "fsync", Mock(side_effect=error))
            futures.append(append({"id": 1}))
            with pytest.raises(type(error)):
                futures[0].result(10)
            monkeypatch.undo()
            futures.append(append({"id": 2}))

    with pytest.raises(type(error), match=told) as caught:
        work()
    assert getattr(caught.value, "errno", None) == getattr(error, "errno", None)
    assert all(isinstance(future.exception(), type(error)) for future in futures)
    assert {"id": 2} not in read(path)[0]


def test_a_full_disk_leaves_whole_lines_and_says_so(path: Path) -> None:
    words = [sys.executable, "-c", LIMITED, str(path)]
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True)
    kept, code = map(int, run.stdout.split())
    assert run.stderr == ""
    assert code == errno.EFBIG
    rows, damaged = read(path)
    assert (len(rows), damaged) == (kept, [])
    write(path, {"id": "more"})
    assert len(read(path)[0]) == kept + 1


def test_a_journal_that_was_removed_takes_no_more_rows(path: Path) -> None:
    def work() -> None:
        with Journal(path).writer() as append:
            append({"id": 1}).result()
            path.unlink()
            assert isinstance(append({"id": 2}).exception(), OSError)

    with pytest.raises(OSError, match="removed"):
        work()


def test_an_error_inside_the_block_keeps_the_rows_and_passes_through(path: Path) -> None:
    appends = []

    def work() -> None:
        with Journal(path).writer() as append:
            appends.append(append)
            append({"id": 1})
            raise KeyError

    with pytest.raises(KeyError):
        work()
    assert read(path) == ([{"id": 1}], [])
    with pytest.raises(RuntimeError, match="shutdown"):
        appends[0]({"id": 2})


def test_the_lock_is_mutual_names_its_holder_and_survives_his_sigkill(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entered = threading.Event()

    def wait() -> None:
        with Journal(path).exclusive():
            entered.set()

    with child(HOLDER, path, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        waiter = threading.Thread(target=wait)
        waiter.start()
        assert not entered.wait(0.3)
        holder.send_signal(signal.SIGKILL)
        assert entered.wait(10)
        waiter.join()
    told = f"fill: process {holder.pid} (fill) works on {path}; waiting for it\n"
    assert capsys.readouterr().err == told


def test_the_lock_does_not_hinder_readers_or_a_writer(path: Path) -> None:
    for _ in range(2):
        with Journal(path).exclusive():
            write(path, {"id": 1})
    assert read(path) == ([{"id": 1}] * 2, [])
