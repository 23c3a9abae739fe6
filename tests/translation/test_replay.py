"""Replay kept translations: the published BEARS to the byte, and no text without a translation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.config import compose
from bears.config.ledger.entries import Ledger, Replacement
from bears.errors import RepliesMissing
from bears.files.records import read_documents, read_questions, write_records
from bears.llm.use import KeptReplies, load
from bears.sampling.mixture import Mixture, sampler_of
from bears.sampling.sample import sample
from bears.translation.published import import_published
from bears.translation.source_texts import SourceTexts
from bears.translation.translator import Translator
from bears.types import Document, Question
from tests.sampled import BEARS, CHOICES, V1, Rows, read_sources
from tests.translating import translate, write_published
from tests.workspace import ROOT

TRANSLATOR = Translator("published", {}, "zh-Hant-TW")
BEARS_LANGUAGES = {"drcd": "zh-Hant-TW", "hotpotqa": "en", "2wiki": "en"}


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Path:
    return shared_data / "bears-published"


@pytest.fixture(scope="module")
def replies(published: Path) -> KeptReplies:
    return KeptReplies(import_published(published, BEARS_LANGUAGES, TRANSLATOR))


def test_the_published_files_come_out_to_the_byte(
    published: Path, replies: KeptReplies, tmp_path: Path
) -> None:
    replies.save(tmp_path / "replies.jsonl", "translation")
    questions, documents = translate(
        read_questions(published / "queries_raw.json"),
        read_documents(published / "corpus_raw.json"),
        BEARS_LANGUAGES,
        load(tmp_path / "replies.jsonl", "translation"),
        TRANSLATOR,
    )
    write_records(tmp_path / "queries.json", questions)
    write_records(tmp_path / "corpus.json", documents)
    for name in ("queries.json", "corpus.json"):
        assert (tmp_path / name).read_bytes() == (published / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("mixture", [V1, BEARS], ids=lambda mixture: type(mixture).__name__)
def test_the_same_replies_serve_v1_and_the_fixed_sample(
    mixture: Mixture, published: Path, replies: KeptReplies, shared_data: Path
) -> None:
    drawn = sample(mixture, read_sources("bears", shared_data / "raw"), Ledger())
    questions, documents = translate(
        drawn.questions, drawn.documents, BEARS_LANGUAGES, replies, TRANSLATOR
    )
    assert questions == read_questions(published / "queries.json")
    known = {d.content: d.content for d in drawn.documents if d.original_source == "drcd"}
    both = (read_documents(published / f"{name}.json") for name in ("corpus_raw", "corpus"))
    known |= {raw.content: translated.content for raw, translated in zip(*both, strict=True)}
    assert documents == [replace(d, content=known[d.content]) for d in drawn.documents]


LANGUAGES = {"hop": "en", "read": "zh-Hant-TW", "neu": "de"}
QUESTIONS = [
    Question("q1", "Who?", "Ann", ("d1",), "hop", "multi-hop"),
    Question("q2", "誰？", "安", ("d2",), "read", "single-hop"),
]
DOCUMENTS = [
    Document("d1", "Ann wrote it.", "hop", "1", True),
    Document("d2", "安寫的。", "read", "2", True),
    Document("d3", "Sie schrieb es.", "neu", "3", False),
]


def test_texts_in_the_target_language_need_no_translation() -> None:
    asked = SourceTexts(QUESTIONS, DOCUMENTS, LANGUAGES, "zh-Hant-TW").requests()
    assert [(r.record_id, r.field, r.source_language, r.text) for r in asked] == [
        ("q1", "question", "en", "Who?"),
        ("q1", "gold_answer", "en", "Ann"),
        ("d1", "content", "en", "Ann wrote it."),
        ("d3", "content", "de", "Sie schrieb es."),
    ]


def test_missing_translations_are_counted_and_listed() -> None:
    many = [replace(DOCUMENTS[0], doc_id=f"e{n}", content=f"Text {n}.") for n in range(7)]
    with pytest.raises(RepliesMissing) as caught:
        translate(QUESTIONS, [*DOCUMENTS, *many], LANGUAGES, KeptReplies(), TRANSLATOR)
    message = str(caught.value)
    assert "kept replies: 11 translations into zh-Hant-TW" in message
    assert "(9 content, 1 gold_answer, 1 question)" in message
    for record_id in ("q1 question", "q1 gold_answer", "d1", "d3", "e0"):
        assert f"  {record_id}" in message
    assert "and 6 more" in message
    assert "q2" not in message


def publish(folder: Path, *translations: tuple[str, str]) -> KeptReplies:
    """Publish questions with the same text, each with its own translation and answer."""
    raw = [replace(QUESTIONS[0], question_id=f"q{n}") for n in range(len(translations))]
    done = [
        replace(question, question=text, gold_answer=answer)
        for question, (text, answer) in zip(raw, translations, strict=True)
    ]
    write_published(folder, raw, DOCUMENTS[1:2], done, DOCUMENTS[1:2])
    replies = KeptReplies(import_published(folder, LANGUAGES, TRANSLATOR))
    assert translate(raw, [], LANGUAGES, replies, TRANSLATOR) == (done, [])
    return replies


def test_translations_that_differ_are_bound_to_their_records(tmp_path: Path) -> None:
    replies = publish(tmp_path, ("誰？", "安"), ("是誰？", "安"), ("誰？", "安"))
    assert len(replies) == 4, "three questions, and the one answer that all share"
    stranger = replace(QUESTIONS[0], question_id="another")
    with pytest.raises(RepliesMissing, match=r"kept replies: 1 .*\n  another question"):
        translate([stranger], [], LANGUAGES, replies, TRANSLATOR)
    # Translations that agree serve every record.
    replies = publish(tmp_path / "same", ("誰？", "安"), ("誰？", "安"))
    assert len(replies) == 2
    (done,), _ = translate([stranger], [], LANGUAGES, replies, TRANSLATOR)
    assert (done.question, done.gold_answer) == ("誰？", "安")


def test_two_documents_with_one_id_keep_their_own_texts(tmp_path: Path) -> None:
    """v1 gives one id to the two texts of a title that a row lists twice."""
    raw = [DOCUMENTS[0], replace(DOCUMENTS[0], doc_id="d9", content="Bob read it.")]
    done = [replace(raw[0], content="安寫了它。"), replace(raw[1], content="鮑伯讀了它。")]
    write_published(tmp_path, QUESTIONS[1:], raw, QUESTIONS[1:], done)
    replies = KeptReplies(import_published(tmp_path, LANGUAGES, TRANSLATOR))
    twins = [raw[0], replace(raw[1], doc_id="d1")]
    _, documents = translate([], twins, LANGUAGES, replies, TRANSLATOR)
    assert [d.content for d in documents] == ["安寫了它。", "鮑伯讀了它。"]


@pytest.fixture(scope="module")
def mini() -> dict[str, Any]:
    return compose(ROOT / "conf", {"benchmark": "mini", **CHOICES})


@pytest.fixture(scope="module")
def mini_rows() -> Rows:
    return read_sources("mini")


def replay_mini(mini: dict[str, Any], rows: Rows, seed: int, ledger: Ledger) -> None:
    mixture = replace(sampler_of(mini["sample"]), seed=seed)
    drawn = sample(mixture, rows, ledger)
    languages = {name: source["language"] for name, source in mini["sources"].items()}
    replies = load(ROOT / "data" / "memory" / "mini.jsonl", "translation")
    translate(drawn.questions, drawn.documents, languages, replies, TRANSLATOR)


@pytest.mark.parametrize("seed", range(21))
def test_the_replies_of_mini_are_complete_at_every_seed(
    seed: int, mini: dict[str, Any], mini_rows: Rows
) -> None:
    replay_mini(mini, mini_rows, seed, Ledger())


def test_the_replies_of_mini_are_complete_for_every_replacement(
    mini: dict[str, Any], mini_rows: Rows
) -> None:
    mixture = sampler_of(mini["sample"])
    for question in sample(mixture, mini_rows, Ledger()).questions:
        ledger = Ledger(replacements=(Replacement(question.question_id, "unclear"),))
        replay_mini(mini, mini_rows, mixture.seed, ledger)
