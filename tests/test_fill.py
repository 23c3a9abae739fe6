"""Filling a memory from a model on loopback: what comes out, and what faults do to it."""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from bears.cli import main
from bears.configuration import Config
from bears.configuration.pipeline import Paths, run
from bears.formats.journal import Journal
from bears.formats.records import read_documents, read_questions
from bears.language.pseudo import decode, encode
from bears.translation.glossary import parse_terms
from stages import download, sample, translate, verify
from tests.provider_server import ROOT, ProviderServer

FAITHFUL = "tests.fake_translator:faithful"
SAMPLED = Path("data/mini/sampled")
MEMORY = Path("data/memory/mini.jsonl")
WHOLE, WHOLE_ASKED = (), 160 + 18 + 18
"""Documents, questions and lists of terms; the answers stand in gold documents."""
SMALL, ASKED = (
    (
        "sample.documents=44",
        "sample.sources=[{source: drcd, questions: 4}, {source: hotpotqa, questions: 2}, "
        "{source: 2wiki, questions: 2}]",
    ),
    44 + 8 + 8,
)
Stage = Callable[[Config, Paths], None]


@dataclass(frozen=True)
class Desk:
    """A folder with mini, sampled and not yet translated, in which commands run."""

    root: Path
    overrides: tuple[str, ...]

    def run(self, command: str, *words: str, code: int = 0) -> str:
        """``python -m bears memory`` in this process: what it printed, standard error included."""
        return self._told(lambda: main(self._command(command, words)), code)

    def stage(self, name: str, stage: Stage, *overrides: str, code: int = 0) -> str:
        """A stage of the pipeline in this process."""
        return self._told(lambda: run(name, stage, [*self.overrides, *overrides]), code)

    def _command(self, command: str, words: Sequence[str]) -> list[str]:
        """The desk's overrides go before those of one call, and all of them after the options."""
        overrides = [word for word in words if "=" in word]
        others = [word for word in words if "=" not in word]
        return ["memory", command, *others, *self.overrides, *overrides]

    def _told(self, call: Callable[[], int], code: int) -> str:
        told = io.StringIO()
        with chdir(self.root), redirect_stdout(told), redirect_stderr(told):
            status = call()
        assert status == code, told.getvalue()
        return told.getvalue()

    def start(self, command: str, *words: str, **variables: str) -> subprocess.Popen[str]:
        """``python -m bears memory`` in a process of its own, away from any terminal."""
        environment = {name: value for name, value in os.environ.items() if "OPENAI" not in name}
        return subprocess.Popen(
            [sys.executable, "-m", "bears", *self._command(command, words)],
            cwd=self.root,
            env={**environment, "PYTHONPATH": str(ROOT), **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # Where the tests themselves run in the background, an interrupt would be ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def also(self, *overrides: str) -> Desk:
        return replace(self, overrides=(*self.overrides, *overrides))

    @property
    def journal(self) -> Path:
        return self.root / ".bears" / "journal.jsonl"

    def rows(self, kind: str = "translation") -> list[dict[str, Any]]:
        """What the journal holds of a kind."""
        return [row for row in Journal(self.journal).rows() if row["kind"] == kind]

    @property
    def memory(self) -> bytes:
        return (self.root / MEMORY).read_bytes()

    def measured(self) -> dict[str, Any]:
        """Replay and verify with the published memory; what verification measures."""
        self.stage("translate", translate.main)
        self.stage("verify", verify.main)
        metrics: dict[str, Any] = json.loads((self.root / "metrics/verification.json").read_text())
        return metrics

    def texts(self) -> dict[tuple[str, str], tuple[str, str]]:
        """(record_id, field) to the text before and after translation."""
        before, after = self.root / SAMPLED, self.root / "data/mini/translated"
        found = {}
        for raw, question in zip(
            read_questions(before / "queries_raw.json"),
            read_questions(after / "queries.json"),
            strict=True,
        ):
            found[raw.question_id, "question"] = (raw.question, question.question)
            found[raw.question_id, "gold_answer"] = (raw.gold_answer, question.gold_answer)
        for source, document in zip(
            read_documents(before / "corpus_raw.json"),
            read_documents(after / "corpus.json"),
            strict=True,
        ):
            found[source.doc_id, "content"] = (source.content, document.content)
        return found


@cache
def _sampled(folder: Path, size: tuple[str, ...]) -> Path:
    """The workspace that desks are copies of, made once a session by the stages themselves."""
    root = folder / ("small" if size else "whole")
    for name in ("conf", "data/local/mini"):
        shutil.copytree(ROOT / name, root / name)
    for name in ("params.yaml", "dvc.yaml"):
        shutil.copy(ROOT / name, root / name)
    shutil.rmtree(root / "conf" / "ledger", ignore_errors=True)
    (root / MEMORY).parent.mkdir()
    (root / MEMORY).touch()
    made = Desk(root, ("language=pseudo", *size))
    made.stage("download", download.main)
    made.stage("sample", sample.main)
    return root


def desk(
    to: Path, factory: pytest.TempPathFactory, url: str, size: tuple[str, ...] = SMALL
) -> Desk:
    """A desk whose translator asks the server at ``url``."""
    root = to / "desk"
    shutil.copytree(_sampled(factory.getbasetemp(), size), root)
    usual = ("translator=gpt-4.1", "language=pseudo", f"translator.base_url={url}")
    return Desk(root, (*usual, "translator.api_key_env=''", *size))


def asked(prompts: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """(field, text) of what a server was asked for."""
    heads = {
        "List the names": "terms",
        "Translate this question": "question",
        "Translate this short answer": "gold_answer",
        "Translate this text": "content",
    }
    found = []
    for prompt in prompts:
        head, _, text = prompt["messages"][-1]["content"].partition("\n\n")
        found.append((next(heads[start] for start in heads if head.startswith(start)), text))
    return found


def journalled(rows: Sequence[dict[str, Any]]) -> set[tuple[str, str]]:
    """The same of what a journal holds."""
    return {(row["field"], row["text"].strip()) for row in rows}


def assert_nothing_bad(rows: Sequence[dict[str, Any]]) -> None:
    """Every translation is what a faithful model makes of its text."""
    for row in rows:
        if row["field"] == "terms":
            parse_terms(row["translation"], row["text"])
        else:
            assert row["translation"] == encode(row["text"]).strip()


@pytest.fixture
def here(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., tuple[Desk, ProviderServer]]]:
    """Give a function that makes a desk beside a server with faults."""
    servers: list[ProviderServer] = []

    def made(
        behaviour: str = "faithful", size: tuple[str, ...] = SMALL, **faults: Any
    ) -> tuple[Desk, ProviderServer]:
        server = ProviderServer(f"tests.fake_translator:{behaviour}", **faults).__enter__()
        servers.append(server)
        return desk(tmp_path / str(len(servers)), tmp_path_factory, server.url, size), server

    yield made
    for server in servers:
        server.__exit__()


Here = Callable[..., tuple[Desk, ProviderServer]]

# ------------------------------------------------------------------------- what comes out


def test_a_faithful_model_leaves_nothing_to_wish_for(here: Here) -> None:
    at, server = here(size=WHOLE)
    process = at.start("fill")
    told, errors = process.communicate()
    assert (process.returncode, errors) == (0, "")
    assert f"{WHOLE_ASKED} answers, {WHOLE_ASKED} translations stored" in told
    assert "Ask the model" not in told
    at.run("publish")
    metrics = at.measured()
    assert (metrics["errors"], metrics["warnings"]) == (0, 0)
    assert metrics["answer_preserved"] == {"n": 16, "exact": 1.0, "normalised": 1.0}
    assert metrics["term_consistency"] == 1.0
    assert metrics["terms"] > 20
    assert set(metrics["gates"].values()) == {0}
    assert all(decode(after) == before for before, after in at.texts().values())
    users = [prompt["messages"][-1]["content"] for prompt in server.prompts()]
    assert len(users) == len(set(users)) == WHOLE_ASKED


def test_what_is_filled_is_not_asked_again_and_publishes_the_same_bytes(here: Here) -> None:
    at, server = here()
    at.run("fill")
    assert f"{ASKED} entries, {ASKED} of them new" in at.run("publish")
    once = at.memory
    assert "nothing is missing" in at.run("fill")
    assert f"{ASKED} entries, 0 of them new" in at.run("publish")
    assert at.memory == once
    assert server.stats()["requests"] == ASKED


def test_concurrency_leaves_no_trace_in_the_memory(here: Here) -> None:
    one, _ = here("moody", latency=0.002)
    many, server = here("moody", latency=0.2)
    one.run("fill", "translator.concurrency=1")
    many.run("fill", "translator.concurrency=64")
    assert server.stats()["most in flight"] > 30
    for at in (one, many):
        at.run("publish")
    assert one.memory == many.memory


def test_replay_needs_the_memory_alone(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    at, server = here()
    at.run("fill")
    at.run("publish")
    other, _ = here(status=500)
    shutil.copy(at.root / MEMORY, other.root / MEMORY)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    away = replace(other, overrides=("translator=gpt-4.1", "language=pseudo", *SMALL))
    away.stage("translate", translate.main)
    assert all(decode(after) == before for before, after in away.texts().values())
    assert not (away.root / ".bears").exists()
    assert server.stats()["requests"] == ASKED


def test_a_bundle_keeps_what_field_by_field_loses(here: Here) -> None:
    """A model that renders names anew in every text is what translation by field fails on."""
    bundle, _ = here("moody", WHOLE)
    fields, _ = here("moody", WHOLE)
    fields = fields.also("translator=per-field")
    measured = []
    for at in (bundle, fields):
        at.run("fill")
        at.run("publish")
        measured.append(at.measured())
    assert measured[0]["answer_preserved"]["exact"] == 1.0
    assert measured[0]["term_consistency"] == 1.0
    assert measured[1]["answer_preserved"]["n"] == 16
    # What stays are the answers without a name in capitals: numbers, and what is Chinese.
    assert measured[1]["answer_preserved"]["exact"] < 0.6
    assert measured[1]["gates"]["answer_lost"] >= 7


def test_per_field_says_the_text_and_nothing_else(here: Here) -> None:
    at, server = here("plain")
    at = at.also("translator=per-field")
    at.run("fill")
    at.run("publish")
    at.stage("translate", translate.main)
    texts = at.texts()
    said = {prompt["messages"][-1]["content"] for prompt in server.prompts()}
    assert said == {before for before, _ in texts.values()}
    assert all(decode(after) == before for before, after in texts.values())


def test_marks_lost_now_and_then_are_asked_for_again(here: Here) -> None:
    at, server = here("forgetful", WHOLE)
    at.run("fill")
    at.run("publish")
    assert at.measured()["answer_preserved"]["exact"] >= 0.95
    told = [p["messages"][0]["content"] for p in server.prompts()]
    assert any("refused: the marks ⟦ ⟧ around the answer are gone" in text for text in told)
    left = {row["record_id"] for row in at.rows() if "⟦" in row["text"] > row["translation"]}
    sidecar = json.loads((at.root / "data/mini/translated/sidecar.json").read_text())
    assert {d["record_id"] for d in sidecar["doubts"] if d["kind"] == "mark_lost"} == left


def test_marks_that_never_come_back_are_flagged(here: Here) -> None:
    """The glossary gives the answers that are terms; what is left is told, and not hidden."""
    at, _ = here("moody_and_markless", WHOLE)
    at.run("fill")
    at.run("publish")
    metrics = at.measured()
    kept = metrics["answer_preserved"]["exact"]
    assert 0.5 <= kept < 1
    assert metrics["gates"]["answer_lost"] == round((1 - kept) * 16)
    sidecar = json.loads((at.root / "data/mini/translated/sidecar.json").read_text())
    marked = {row["record_id"] for row in at.rows() if "⟦" in row["text"]}
    assert {d["record_id"] for d in sidecar["doubts"]} == marked
    assert metrics["findings"]["mark_lost"] == len(sidecar["doubts"])
    file = at.root / "review.jsonl"
    at.run("review", "--export", str(file))
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert {row["record_id"] for row in rows if row["field"] == "content"} == marked
    lost = [row for row in rows if row["field"] == "gold_answer"]
    assert len(lost) == metrics["gates"]["answer_lost"]


def test_a_model_without_a_grip_on_terms_does_not_hold_its_bundle_back(here: Here) -> None:
    at, _ = here("wordless")
    at.run("fill")
    terms = [row["translation"] for row in at.rows() if row["field"] == "terms"]
    assert terms == ['{"terms": []}'] * 8
    assert all("not valid JSON" in row["reasons"][0] for row in at.rows("refused"))
    at.run("publish")
    assert at.measured()["answer_preserved"]["exact"] == 1.0


# ------------------------------------------------------------------------- what faults do

ANSWERS = {
    "truncated": "the answer is not complete (finish reason length)",
    "refusal": "the model refused: I'm sorry",
    "content_filter": "the answer is not complete (finish reason content_filter)",
    "empty": "the answer is empty",
    "wrong_language": "0% of it is Pseudo",
    "chatter": "the model speaks: 'Sure!'",
    "echo": "the model speaks|left in the source language|characters for|of it is Pseudo",
}


@pytest.mark.parametrize("fault", ANSWERS)
def test_a_bad_answer_is_asked_for_again_with_the_reason(fault: str, here: Here) -> None:
    at, server = here(chances={fault: 0.15})
    at = at.also("translator.asks=9")
    at.run("fill")
    assert server.stats()[f"fault {fault}"] > 3
    prompts = [prompt["messages"][0]["content"] for prompt in server.prompts()]
    told = [
        prompt for prompt in prompts if "Your last translation of this text was refused: " in prompt
    ]
    refused = at.rows("refused")
    assert len(told) == len(refused) > 0
    assert all(any(reason in text for reason in ANSWERS[fault].split("|")) for text in told)
    assert len(at.rows()) == ASKED
    assert_nothing_bad(at.rows())


def test_a_model_that_learns_from_the_reason_needs_two_answers(here: Here) -> None:
    at, server = here("teachable")
    at.run("fill")
    fields = Counter(field for field, _ in asked(server.prompts()))
    assert fields == {"terms": 8, "question": 16, "content": 88}
    assert_nothing_bad(at.rows())


def test_a_new_fill_says_why_the_last_one_got_nothing(here: Here) -> None:
    at, server = here("teachable")
    at.also("translator.asks=1").run("fill", code=1)
    before = len(server.prompts())
    at.also("translator.asks=1").run("fill")
    told = [prompt["messages"][0]["content"] for prompt in server.prompts()[before:]]
    assert told
    assert all("was refused: the model speaks" in text for text in told)


WIRE = ("limited", "limited_bare", "server_error", "cut", "invalid_json", "no_choices")


def test_faults_of_every_kind_at_once_change_nothing_of_what_is_published(here: Here) -> None:
    at, server = here(chances=dict.fromkeys(WIRE, 0.02) | dict.fromkeys(ANSWERS, 0.04))
    at.also("translator.asks=9", "translator.attempts=9").run("fill")
    stats = server.stats()
    for kinds in (WIRE, tuple(ANSWERS)):
        assert sum(stats.get(f"fault {kind}", 0) for kind in kinds) > 2
    assert_nothing_bad(at.rows())
    calm, _ = here()
    calm.run("fill")
    for each in (at, calm):
        each.run("publish")
    assert at.memory == calm.memory


def _negative(at: Desk) -> tuple[str, str]:
    """A document that is no gold, and words that nothing else holds."""
    documents = read_documents(at.root / SAMPLED / "corpus_raw.json")
    document = next(d for d in documents if not d.is_gold and d.original_source == "hotpotqa")
    return document.doc_id, document.content[:40]


@pytest.mark.parametrize("fault", ["refusal", "bad_request"])
def test_a_text_that_keeps_failing_is_missing_and_stays_so(fault: str, here: Here) -> None:
    at, server = here()
    doc_id, words = _negative(at)
    server.change(content={words: fault})
    told = at.run("fill", code=1)
    assert "bears: 1 texts are still missing, 1 of them after a failure" in told
    assert f"failed: {doc_id} content: " in told
    (failure,) = at.rows("failure")
    assert failure["record_id"] == doc_id
    assert failure["reasons"]
    assert server.stats()["requests"] == ASKED - 1 + (3 if fault == "refusal" else 1)
    assert "1 texts are still missing" in at.run("publish", code=1)
    assert words.encode() not in at.memory
    told = at.stage("translate", translate.main, code=1)
    assert "the memory lacks 1 translations" in told
    assert not (at.root / "data/mini/translated").exists()
    server.change(content={})
    assert "nothing is missing" in at.run("fill")


def test_the_bundle_that_waits_for_a_failed_text_counts_as_missing(here: Here) -> None:
    at, server = here()
    server.change(content={"List the names": "refusal"})
    told = at.run("fill", code=1)
    missing = int(told.split("bears: ")[1].split()[0])
    assert missing == ASKED - len(at.rows())
    assert missing > 8


def test_a_wrong_key_stops_at_once_with_one_message(here: Here) -> None:
    at, server = here(status=401, error_code="invalid_api_key")
    told = at.run("fill", code=1)
    assert told.count("status 401 invalid_api_key") == 1
    assert "Look at the key" in told
    assert server.stats()["requests"] <= 20
    assert at.rows("failure") == []


def test_a_server_that_hangs_is_not_waited_for(here: Here) -> None:
    at, server = here()
    doc_id, words = _negative(at)
    server.change(content={words: "hang"})
    told = at.run("fill", "translator.timeout_s=1", "translator.attempts=1", code=1)
    assert f"failed: {doc_id} content: no answer after 1 attempts, the last one: no answer" in told
    assert len(at.rows()) == ASKED - 1


def test_an_answer_that_is_broken_json_is_no_translation(here: Here) -> None:
    at, _ = here("unfinished")
    told = at.run("fill", code=1)
    assert "the answer is not the JSON that was asked for" in told
    assert [row for row in at.rows() if row["field"] != "terms"] == []


def test_marks_that_nobody_asked_for_do_not_get_into_a_text(here: Here) -> None:
    at, _ = here("eager")
    told = at.run("fill", code=1)
    assert "it has the marks ⟦ ⟧, though the text has none" in told
    assert [row for row in at.rows() if row["field"] == "question"] == []
