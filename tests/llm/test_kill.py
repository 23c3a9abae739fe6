"""Killing a filling at random moments: what was journalled is kept and never asked for again."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import pytest

from bears.files.journal import Journal
from stages import generate, sample
from tests import answering as answering_desk
from tests import questioning as questioning_desk
from tests.answering import Answering, answering, neighbours, retrieved, stones
from tests.desk import ASKED, MEMORY, WHOLE, Desk, Here, asked, here, journalled
from tests.provider_server import ProviderServer
from tests.questioning import Making, making

__all__ = ["answering", "here", "making"]

PIECES = ("translator.chunk_characters=100", "translator.concurrency=32")


def begun(at: Desk, *words: str) -> BaseProcess:
    """A filling in a process of its own."""
    return forked(lambda: at.run("fill", *words))


def forked(work: Callable[[], object]) -> BaseProcess:
    """Work in a process of its own, forked so that it need not import everything anew."""

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


@dataclass(frozen=True)
class Killed:
    """A use that is killed while it asks.

    Args:
        kind: of its rows in the journal.
        memory: what it publishes.
        begin: fills, in this process.
        asked: what a server was asked for.
        journalled: the same of what a journal holds.
        concurrency: how many requests are in flight at most.
    """

    kind: str
    memory: Path
    begin: Callable[[Desk], object]
    asked: Callable[[Sequence[dict[str, Any]]], Sequence[object]]
    journalled: Callable[[Sequence[dict[str, Any]]], Set[object]]
    concurrency: int

    def kept(self, at: Desk) -> Set[object]:
        return self.journalled(at.rows(self.kind)) if at.journal.exists() else set()


TRANSLATIONS = Killed("translation", MEMORY, lambda at: at.run("fill"), asked, journalled, 32)
ANSWERS = Killed(
    "answer",
    answering_desk.MEMORY,
    # The stage fills, publishes and writes.
    lambda at: at.stage("generate", generate.main, "generator.fill=auto"),
    lambda prompts: [
        prompt["messages"][-1]["content"].split("Question: ")[1] for prompt in prompts
    ],
    lambda rows: {row["text"] for row in rows},
    8,
)


def paid(at: Desk) -> list[dict[str, Any]]:
    """Every answer that is in the journal."""
    return [row for row in Journal(at.journal).rows() if "model" in row]


def kills(use: Killed, at: Desk, server: ProviderServer, count: int, dice: random.Random) -> None:
    """Kill fillings at random moments; where one gets through, begin with an empty journal."""
    done = 0
    while done < count:
        kept = use.kept(at)
        before, rows = len(server.prompts()), len(paid(at))
        process = forked(lambda: use.begin(at))
        if dice.random() < 0.1:
            time.sleep(dice.random())
        else:
            more = before + dice.randint(1, 90)
            wait_until(lambda more=more: server.stats().get("requests", 0) >= more, process)  # type: ignore[misc]
            time.sleep(dice.random() * 0.04)
        process.kill()
        process.join()
        wanted = use.asked(server.prompts()[before:])
        assert len(wanted) == len(set(wanted))
        assert not set(wanted) & kept
        assert kept <= use.kept(at)
        # What is in flight at a kill can be lost, and nothing else.
        assert len(wanted) <= len(paid(at)) - rows + use.concurrency
        done += process.exitcode == -signal.SIGKILL
        if process.exitcode == 0:
            at.journal.unlink()
            (at.root / use.memory).write_bytes(b"")


def killed_as_undisturbed(
    use: Killed, at: Desk, calm: Desk, server: ProviderServer, count: int
) -> None:
    """After kills the rest is asked, once, and what is published is what ``calm`` publishes."""
    kills(use, at, server, count, random.Random(count))
    kept = use.kept(at)
    before = len(server.prompts())
    use.begin(at)
    assert not set(use.asked(server.prompts()[before:])) & kept
    use.begin(calm)
    for each in (at, calm):
        each.run("publish")
    assert (at.root / use.memory).read_bytes() == (calm.root / use.memory).read_bytes() != b""


def translations_killed(here: Here, count: int) -> None:
    at, server = here("moody", WHOLE, latency=0.02)
    calm, _ = here("moody", WHOLE)
    at, calm = at.also(*PIECES), calm.also(*PIECES)
    # What this process has composed, no fork of it composes again.
    at.run("plan")
    killed_as_undisturbed(TRANSLATIONS, at, calm, server, count)


QUESTIONS = Killed(
    "question",
    questioning_desk.QUESTIONS,
    # The stage fills, publishes and writes; the questions first, then what a reader says of them.
    lambda at: at.stage("sample", sample.main, *questioning_desk.AUTO),
    lambda prompts: [
        broken_up["passages"][0]
        for prompt in prompts
        if "You write one question" in prompt["messages"][0]["content"]
        and (broken_up := json.loads(prompt["messages"][-1]["content"]))
    ],
    lambda rows: {row["text"] for row in rows},
    8,
)


def questions_killed(making: Making, count: int) -> None:
    at, server = making("tidy", questioning_desk.stones(150), latency=0.02)
    calm, _ = making("tidy", questioning_desk.stones(150))
    killed_as_undisturbed(QUESTIONS, at, calm, server, count)
    for name in (questioning_desk.READINGS, questioning_desk.SAMPLED / "queries_raw.json"):
        assert (at.root / name).read_bytes() == (calm.root / name).read_bytes() != b""


@pytest.mark.slow
def test_kills_of_the_stage_that_makes_questions_lose_and_pay_nothing_twice(making: Making) -> None:
    questions_killed(making, 30)


def answers_killed(answering: Answering, count: int) -> None:
    at, server = answering("faithful", "generator.concurrency=8", latency=0.02)
    calm, _ = answering()
    for each in (at, calm):
        retrieved(each.root, *stones(150), neighbours(150))
    killed_as_undisturbed(ANSWERS, at, calm, server, count)
    written = [each.root / "data/mini/answers/bm25.gpt-4.1.jsonl" for each in (at, calm)]
    assert written[0].read_bytes() == written[1].read_bytes() != b""


@pytest.mark.slow
def test_eight_kills_lose_nothing_and_pay_nothing_twice(here: Here) -> None:
    translations_killed(here, 8)


@pytest.mark.slow
def test_two_hundred_kills_lose_nothing_and_pay_nothing_twice(here: Here) -> None:
    translations_killed(here, 200)


def test_two_kills_of_the_stage_that_answers_lose_and_pay_nothing_twice(
    answering: Answering,
) -> None:
    answers_killed(answering, 2)


@pytest.mark.slow
def test_fifty_kills_of_the_stage_that_answers_lose_and_pay_nothing_twice(
    answering: Answering,
) -> None:
    answers_killed(answering, 50)


@pytest.mark.slow
def test_an_interrupt_keeps_what_was_finished(here: Here) -> None:
    at, server = here(latency=0.2)
    process = at.start("fill", "translator.concurrency=8")
    wait_until(lambda: server.stats().get("requests", 0) >= 24)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    cost, told = errors.splitlines()
    assert told == "bears: interrupted; what was finished is kept"
    kept = journalled(at.rows())
    # Without a terminal there was no bar that could have said it.
    said = re.fullmatch(r"(\d+) done; US\$ ([\d.]+) spent, .*in flight", cost)
    assert said is not None
    came, usd = said.groups()
    assert 8 <= int(came) <= len(at.rows())
    assert float(usd) > 0
    assert 8 <= len(kept) < ASKED
    before = len(server.prompts())
    server.change(latency=0)
    at.run("fill")
    assert set(asked(server.prompts()[before:])).isdisjoint(kept)
    assert len(at.rows()) == ASKED


@pytest.mark.slow
def test_of_two_fills_at_once_one_waits_and_neither_asks_what_the_other_did(here: Here) -> None:
    at, server = here(latency=0.4)
    both = [at.start("fill") for _ in range(2)]
    told = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    errors = "".join(error for _, error in told)
    assert errors.count("waiting for it") == 1
    assert any(f"fill: process {process.pid} (fill) works on " in errors for process in both)
    assert all("nothing is missing" in out for out, _ in told)
    wanted = asked(server.prompts())
    assert len(wanted) == len(set(wanted)) == ASKED


def test_a_damaged_journal_is_told_and_its_lines_are_asked_again(here: Here) -> None:
    at, server = here()
    at.run("fill")
    lines = at.journal.read_bytes().split(b"\n")
    spoilt = {(row["field"], row["text"].strip()) for row in (at.rows()[2], at.rows()[-1])}
    lines[2] = lines[2].replace(b'"translation":"', b'"translation":"x')
    at.journal.write_bytes(b"\n".join(lines[:-1])[:-9])
    told = at.run("fill")
    assert ".bears/journal.jsonl, line 3: corrupted: the checksum does not fit; skipped" in told
    assert f"line {ASKED}: torn: the file ends within it; skipped" in told
    again = set(asked(server.prompts()[ASKED:]))
    assert spoilt <= again
    journal = Journal(at.journal)
    assert len([row for row in journal.rows() if row["kind"] == "translation"]) >= ASKED
    assert len(journal.damaged) == 2


# ------------------------------------------------------------------------------ batches

BATCH = "translator.backend=batch"


def test_batches_publish_what_single_requests_do(here: Here) -> None:
    at, server = here("moody", batch_polls=0)
    online, _ = here("moody")
    at.run("fill", BATCH)
    stats = server.stats()
    assert (stats.get("requests", 0), stats["batch requests"], stats["batches"]) == (0, ASKED, 2)
    assert "gpt-4.1 (batch)" in at.run("plan", BATCH)
    online.run("fill")
    for each in (at, online):
        each.run("publish")
    assert at.memory == online.memory


def test_what_an_expired_batch_left_is_submitted_again(here: Here) -> None:
    at, server = here(batch_polls=0, batch_end="expired", batch_done=0.5, batch_ends=1)
    assert "nothing is missing" in at.run("fill", BATCH)
    stats = server.stats()
    assert (stats["batches"], stats["batch requests"]) == (3, ASKED)


def test_a_batch_is_found_again_after_a_kill(here: Here) -> None:
    at, server = here(batch_polls=1_000_000)
    process = begun(at, BATCH)
    state = at.root / ".bears" / "batches.jsonl"
    wait_until(lambda: state.exists() and b'"id": "batch' in state.read_bytes(), process)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    server.change(batch_polls=0)
    assert "nothing is missing" in at.run("fill", BATCH)
    stats = server.stats()
    assert (stats["batches"], stats["batch requests"]) == (2, ASKED)
    assert state.read_text() == ""


@pytest.mark.slow
def test_two_commands_look_at_one_checkout_from_anywhere(here: Here) -> None:
    """An experiment of DVC runs in a copy; the journal is the checkout's all the same."""
    at, server = here()
    at.run("fill")
    away = at.root.parent / "experiment"
    subprocess.run(["cp", "-r", at.root, away], check=True)
    (away / ".bears" / "journal.jsonl").unlink()
    process = Desk(away, at.overrides).start("publish", DVC_ROOT=str(at.root))
    told, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert f"{ASKED} entries" in told
    assert server.stats()["requests"] == ASKED
