"""Fills that are interrupted, run twice or find a damaged journal."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from multiprocessing.process import BaseProcess

import pytest

from tests.desk import ASKED, Desk, Here, asked, here, journalled

__all__ = ["here"]


def forked(work: Callable[[], object]) -> BaseProcess:
    """Start a forked process, which need not import everything again."""

    def alone() -> None:
        os.close(0)
        work()

    process: BaseProcess = multiprocessing.get_context("fork").Process(target=alone)
    process.start()
    return process


def wait_until(true: Callable[[], bool], process: BaseProcess | None = None) -> None:
    deadline = time.monotonic() + 60
    while not true() and (process is None or process.is_alive()):
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_finished(here: Here) -> None:
    at, server = here(latency=0.2)
    process = at.start("fill", "translator.concurrency=8")
    wait_until(lambda: server.stats().get("requests", 0) >= 24)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    told = "bears: interrupted; what was finished is kept\n"
    found = re.fullmatch(rf"(\d+) done; US\$ ([\d.]+) spent, .*in flight\n{told}", errors)
    assert found is not None
    kept = journalled(at.rows())
    assert 8 <= int(found[1]) <= len(kept) < ASKED
    assert float(found[2]) > 0
    before = len(server.prompts())
    server.change(latency=0)
    at.run("fill")
    assert set(asked(server.prompts()[before:])).isdisjoint(kept)
    assert len(at.rows()) == ASKED


@pytest.mark.slow
def test_of_two_fills_at_once_one_waits_and_requests_only_the_rest(here: Here) -> None:
    at, server = here(latency=0.4)
    both = [at.start("fill") for _ in range(2)]
    printed = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    errors = "".join(error for _, error in printed)
    assert errors.count("waiting for it") == 1
    assert any(f"fill: process {process.pid} (fill) works on " in errors for process in both)
    assert all("nothing is missing" in out for out, _ in printed)
    wanted = asked(server.prompts())
    assert len(wanted) == len(set(wanted)) == ASKED


@pytest.mark.slow
def test_damaged_lines_of_the_journal_are_reported_and_requested_again(here: Here) -> None:
    at, server = here()
    at.run("fill")
    lines = at.journal.read_bytes().split(b"\n")
    spoilt = {(row["field"], row["text"].strip()) for row in (at.rows()[2], at.rows()[-1])}
    lines[2] = lines[2].replace(b'"translation":"', b'"translation":"x')
    at.journal.write_bytes(b"\n".join(lines[:-1])[:-9])
    printed = at.run("fill")
    assert ".bears/journal.jsonl, line 3: corrupted: the checksum does not fit; skipped" in printed
    assert f"line {ASKED}: torn: the file ends within it; skipped" in printed
    assert spoilt <= set(asked(server.prompts()[ASKED:]))


@pytest.mark.slow
def test_an_experiment_in_a_copy_uses_the_journal_of_the_checkout(here: Here) -> None:
    at, server = here()
    at.run("fill")
    away = at.root.parent / "experiment"
    subprocess.run(["cp", "-r", at.root, away], check=True)
    (away / ".bears" / "journal.jsonl").unlink()
    process = Desk(away, at.overrides).start("publish", DVC_ROOT=str(at.root))
    printed, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert f"{ASKED} entries" in printed
    assert server.stats()["requests"] == ASKED
