"""Filling a memory from a model on loopback: what comes out, and what faults do to it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace

import pytest

from bears.files.records import read_documents
from stages import translate
from tests.desk import (
    ASKED,
    MEMORY,
    SAMPLED,
    SMALL,
    WHOLE,
    WHOLE_ASKED,
    Desk,
    Here,
    asked,
    assert_nothing_bad,
    here,
)
from tests.pseudo import decode

__all__ = ["here"]

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
    kinds = {"n": 16, "exact": 16, "normalised": 0, "alias": 0, "lost": 0}
    assert metrics["answer_preserved"] == kinds
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
    many, server = here("moody", latency=0.4)
    one.run("fill", "translator.concurrency=1")
    many.run("fill", "translator.concurrency=64")
    assert server.stats()["most in flight"] > 8
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
    assert not away.journal.exists()
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
    assert measured[0]["answer_preserved"]["exact"] == 16
    assert measured[0]["term_consistency"] == 1.0
    assert measured[1]["answer_preserved"]["n"] == 16
    # What stays are the answers without a name in capitals: numbers, and what is Chinese.
    assert measured[1]["answer_preserved"]["exact"] < 10
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
    assert at.measured()["answer_preserved"]["exact"] == 16
    told = [p["messages"][0]["content"] for p in server.prompts()]
    assert any("refused: the marks ⟦ ⟧ around the answer are gone" in text for text in told)
    left = {row["record_id"] for row in at.rows() if "⟦" in row["text"] > row["translation"]}
    sidecar = json.loads((at.root / "data/mini/translated/sidecar.json").read_text())
    assert {d["record_id"] for d in sidecar["doubts"] if d["kind"] == "mark_lost"} == left


@pytest.mark.slow
def test_marks_that_never_come_back_are_flagged(here: Here) -> None:
    """The glossary gives the answers that are terms; what is left is told, and not hidden."""
    at, _ = here("moody_and_markless", WHOLE)
    at.run("fill")
    at.run("publish")
    metrics = at.measured()
    kept = metrics["answer_preserved"]["exact"]
    assert 8 <= kept < 16
    assert metrics["gates"]["answer_lost"] == metrics["answer_preserved"]["lost"] > 0
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
    assert at.measured()["answer_preserved"]["exact"] == 8


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


@pytest.mark.slow
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
    told = at.run("publish", code=1)
    assert f"{ASKED - 1} entries" in told
    assert "1 texts are still missing" in told
    assert f"{doc_id} content: " in told
    assert "memory fill" in told
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
    assert f"failed: {doc_id} content: no answer after 1 attempts, the last one: http" in told
    assert "gave no answer in time" in told
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
