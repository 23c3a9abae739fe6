"""Fill translations from a model on loopback: what it stores, and what faults do to it."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import Any

import pytest

from bears.files.spreadsheet import read_named
from bears.translation.glossary import parse_terms
from stages import translate
from tests.answering import STONES, Answering, answering
from tests.desk import ASKED, WHOLE, WHOLE_ASKED, Desk, Here, asked, here
from tests.pseudo import decode, encode
from tests.questioning import published

__all__ = ["answering", "here"]


def sidecar(at: Desk) -> list[dict[str, str]]:
    """Return the doubts about translations."""
    found: Any = json.loads((at.root / "data/mini/translated/sidecar.json").read_text())
    return list(found["doubts"])


def assert_nothing_bad(at: Desk) -> None:
    """Assert that every translation in the journal is that of a faithful model."""
    for row in at.rows():
        if row["field"] == "terms":
            assert not parse_terms(row["translation"], row["text"])[1]
        else:
            assert row["translation"] == encode(row["text"]).strip()


def assert_no_finding(at: Desk) -> None:
    metrics = at.measured()
    assert (metrics["errors"], metrics["warnings"]) == (0, 0)
    kinds = {"n": 16, "exact": 16, "normalised": 0, "alias": 0, "lost": 0}
    assert metrics["answer_preserved"] == kinds
    assert metrics["term_consistency"] == 1.0
    assert metrics["terms"] > 20
    assert set(metrics["gates"].values()) == {0}
    assert all(decode(after) == before for before, after in at.texts().values())


@pytest.mark.slow
def test_concurrency_does_not_change_the_kept_replies(here: Here) -> None:
    one, _ = here("moody", latency=0.002)
    many, server = here("moody", latency=0.4)
    published(one, "translator.concurrency=1")
    published(many, "translator.concurrency=64")
    assert server.stats()["most in flight"] > 8
    assert one.replies == many.replies


@pytest.mark.slow
def test_a_bundle_keeps_answers_that_field_by_field_loses(here: Here) -> None:
    """A model that renders names differently in every text breaks translation by field."""
    bundle, _ = here("moody", WHOLE)
    fields, _ = here("moody", WHOLE)
    measured = [published(at).measured() for at in (bundle, fields.also("translator=per-field"))]
    assert measured[0]["answer_preserved"]["exact"] == 16
    assert measured[0]["term_consistency"] == 1.0
    assert measured[1]["answer_preserved"]["n"] == 16
    # Answers without a capitalized name survive: numbers, and those in Chinese.
    assert measured[1]["answer_preserved"]["exact"] < 10
    assert measured[1]["gates"]["answer_lost"] >= 7


@pytest.mark.slow
def test_per_field_sends_nothing_but_the_text(here: Here) -> None:
    at, server = here("plain")
    at = published(at.also("translator=per-field"))
    at.stage("translate", translate.main)
    texts = at.texts()
    sent = {prompt["messages"][-1]["content"] for prompt in server.prompts()}
    assert sent == {before for before, _ in texts.values()}
    assert all(decode(after) == before for before, after in texts.values())


@pytest.mark.slow
def test_marks_that_never_come_back_are_flagged(here: Here) -> None:
    """The glossary supplies the answers that are terms; the others are reported."""
    at, _ = here("moody_and_markless", WHOLE)
    metrics = published(at).measured()
    assert 8 <= metrics["answer_preserved"]["exact"] < 16
    assert metrics["gates"]["answer_lost"] == metrics["answer_preserved"]["lost"] > 0
    marked = {row["record_id"] for row in at.rows() if "⟦" in row["text"]}
    assert {doubt["record_id"] for doubt in sidecar(at)} == marked
    assert metrics["findings"]["mark_lost"] == len(sidecar(at))
    file = at.root / "review.csv"
    at.run("review", "--export", str(file))
    rows = [row for _, row in read_named(file)[1]]
    assert {row["record_id"] for row in rows if row["field"] == "content"} == marked
    lost = [row for row in rows if row["field"] == "gold_answer"]
    assert len(lost) == metrics["gates"]["answer_lost"]


REASONS = {
    "truncated": "the answer is not complete (finish reason length)",
    "refusal": "the model refused: I'm sorry",
    "content_filter": "the model refused: by its content filter",
    "empty": "the answer is empty",
    "wrong_language": "0% of it is Pseudo",
    "chatter": "the model speaks: 'Sure!'",
    "echo": "of it is Pseudo",
}
WIRE = ("limited", "limited_bare", "server_error", "cut", "invalid_json", "no_choices")


@pytest.mark.slow
def test_faults_of_every_kind_change_nothing_that_is_published(here: Here) -> None:
    chances = dict.fromkeys(WIRE, 0.02) | dict.fromkeys(REASONS, 0.06)
    at, server = here(size=WHOLE, chances=chances)
    calm, faithful = here(size=WHOLE)
    assert_no_finding(published(calm))
    users = [prompt["messages"][-1]["content"] for prompt in faithful.prompts()]
    assert len(users) == len(set(users)) == WHOLE_ASKED
    published(at, "translator.asks=20", "translator.attempts=9")
    stats = server.stats()
    assert all(stats.get(f"fault {kind}", 0) for kind in REASONS)
    assert sum(stats.get(f"fault {kind}", 0) for kind in WIRE) > 2
    systems = [prompt["messages"][0]["content"] for prompt in server.prompts()]
    again = [text for text in systems if "Your last translation of this text was refused: " in text]
    assert len(again) >= len(at.rows("refused")) > 0
    assert all(any(reason in text for text in again) for reason in REASONS.values())
    assert_nothing_bad(at)
    assert at.replies == calm.replies


@pytest.mark.slow
def test_a_model_that_learns_from_the_reason_needs_two_answers(here: Here) -> None:
    at, server = here("teachable")
    at.also("translator.asks=1").run("fill", code=1)
    # A later fill gives the reason too.
    before = len(server.prompts())
    at.also("translator.asks=1").run("fill")
    systems = [prompt["messages"][0]["content"] for prompt in server.prompts()[before:]]
    assert all("was refused: the model speaks" in text for text in systems)
    counts = Counter(field for field, _ in asked(server.prompts()))
    assert counts == {"terms": 8, "question": 16, "content": 88}
    assert_nothing_bad(at)


def test_answers_are_counted_over_all_fills_and_the_best_doubtful_one_is_kept(
    answering: Answering,
) -> None:
    """Six budgeted fills once bought 78 answers and stored none."""
    at, server = answering("stubborn", "generator.budget=0.02", "generator.concurrency=2")
    fills = 0
    while len(at.rows("answer")) < STONES:
        fills += 1
        assert fills < 30
        with suppress(AssertionError):  # the budget is used up
            at.run("fill")
    assert fills > 2
    counts = Counter(prompt["messages"][-1]["content"] for prompt in server.prompts())
    assert list(counts.values()) == [3] * STONES


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["refusal", "bad_request"])
def test_a_text_that_keeps_failing_stays_missing(fault: str, here: Here) -> None:
    at, server = here()
    document = at.negative()
    doc_id, words = document.doc_id, document.content[:40]
    server.change(content={words: fault})
    printed = at.run("fill", code=1)
    assert "bears: 1 texts are still missing, 1 of them after a failure" in printed
    assert f"failed: {doc_id} content: " in printed
    assert [(row["record_id"], bool(row["reasons"])) for row in at.rows("failure")] == [
        (doc_id, True)
    ]
    assert server.stats()["requests"] == ASKED - 1 + (3 if fault == "refusal" else 1)
    printed = at.run("publish", code=1)
    for told in (f"{ASKED - 1} entries", "1 texts are still missing", f"{doc_id} content: "):
        assert told in printed
    assert words.encode() not in at.replies
    assert "kept replies: 1 translations" in at.stage("translate", translate.main, code=1)
    assert not (at.root / "data/mini/translated").exists()
    server.change(content={})
    assert "nothing is missing" in at.run("fill")


def test_texts_that_wait_for_failed_terms_count_as_missing(here: Here) -> None:
    at, server = here()
    server.change(content={"List the names": "refusal"})
    printed = at.run("fill", code=1)
    missing = int(printed.split("bears: ")[1].split()[0])
    assert missing == ASKED - len(at.rows()) > 8


def test_a_wrong_key_stops_at_once_with_one_message(here: Here) -> None:
    at, server = here(status=401, error_code="invalid_api_key")
    printed = at.run("fill", code=1)
    assert printed.count("status 401 invalid_api_key") == 1
    assert "Look at the key" in printed
    assert server.stats()["requests"] <= 20
    assert at.rows("failure") == []
