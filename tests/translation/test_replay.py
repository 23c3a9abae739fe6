"""Replaying a memory: the published BEARS to the byte, and no text without its translation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.config import compose, parse
from bears.config.ledger.entries import Ledger, Replacement
from bears.errors import MemoryMiss
from bears.files.records import read_documents, read_questions, write_records
from bears.llm.kept import PublishedMemory, load
from bears.sampling.mixture import Mixture
from bears.sampling.sample import sample
from bears.translation.published import import_published
from bears.translation.source_texts import SourceTexts
from bears.translation.translator import Translator
from bears.types import Document, Question
from tests.sampled import BEARS, CHOICES, V1, Rows, read_sources
from tests.translating import translate
from tests.workspace import ROOT

TRANSLATOR = Translator("published", {}, "zh-Hant-TW")
BEARS_LANGUAGES = {"drcd": "zh-Hant-TW", "hotpotqa": "en", "2wiki": "en"}


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Path:
    return shared_data / "bears-published"


@pytest.fixture(scope="module")
def memory(published: Path) -> PublishedMemory:
    return PublishedMemory(import_published(published, BEARS_LANGUAGES, TRANSLATOR))


# ------------------------------------------------------------------------- the published BEARS


def test_the_published_files_come_out_to_the_byte(
    published: Path, memory: PublishedMemory, tmp_path: Path
) -> None:
    memory.save(tmp_path / "memory.jsonl", "translation")
    questions, documents = translate(
        read_questions(published / "queries_raw.json"),
        read_documents(published / "corpus_raw.json"),
        BEARS_LANGUAGES,
        load(tmp_path / "memory.jsonl", "translation"),
        TRANSLATOR,
    )
    write_records(tmp_path / "queries.json", questions)
    write_records(tmp_path / "corpus.json", documents)
    for name in ("queries.json", "corpus.json"):
        assert (tmp_path / name).read_bytes() == (published / name).read_bytes()


@pytest.mark.parametrize("mixture", [V1, BEARS], ids=lambda mixture: mixture.sampler)
def test_one_memory_serves_v1_and_the_mended_sample(
    mixture: Mixture,
    published: Path,
    memory: PublishedMemory,
    shared_data: Path,
    tmp_path: Path,
) -> None:
    drawn = sample(mixture, read_sources("bears", shared_data / "raw", tmp_path), Ledger())
    questions, documents = translate(
        drawn.questions, drawn.documents, BEARS_LANGUAGES, memory, TRANSLATOR
    )
    assert questions == read_questions(published / "queries.json")
    known = {d.content: d.content for d in drawn.documents if d.original_source == "drcd"}
    known |= {
        raw.content: translated.content
        for raw, translated in zip(
            read_documents(published / "corpus_raw.json"),
            read_documents(published / "corpus.json"),
            strict=True,
        )
    }
    assert documents == [replace(d, content=known[d.content]) for d in drawn.documents]


# -------------------------------------------------------------------------------- what is asked

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


def test_texts_in_the_target_language_are_not_asked_for() -> None:
    asked = SourceTexts(QUESTIONS, DOCUMENTS, LANGUAGES, "zh-Hant-TW").requests()
    assert [(r.record_id, r.field, r.source_language, r.text) for r in asked] == [
        ("q1", "question", "en", "Who?"),
        ("q1", "gold_answer", "en", "Ann"),
        ("d1", "content", "en", "Ann wrote it."),
        ("d3", "content", "de", "Sie schrieb es."),
    ]


def test_what_is_missing_is_counted_and_listed_and_nothing_comes_back() -> None:
    many = [replace(DOCUMENTS[0], doc_id=f"e{n}", content=f"Text {n}.") for n in range(7)]
    with pytest.raises(MemoryMiss) as caught:
        translate(QUESTIONS, [*DOCUMENTS, *many], LANGUAGES, PublishedMemory(), TRANSLATOR)
    message = str(caught.value)
    assert "lacks 11 translations into zh-Hant-TW" in message
    assert "(9 content, 1 gold_answer, 1 question)" in message
    for record_id in ("q1 question", "q1 gold_answer", "d1", "d3", "e0"):
        assert f"  {record_id}" in message
    assert "and 6 more" in message
    assert "q2" not in message


def test_one_missing_entry_is_enough(
    published: Path, memory: PublishedMemory, tmp_path: Path
) -> None:
    memory.save(tmp_path / "m.jsonl", "translation")
    lines = (tmp_path / "m.jsonl").read_bytes().split(b"\n")
    (tmp_path / "m.jsonl").write_bytes(b"\n".join(lines[:100] + lines[101:]))
    with pytest.raises(MemoryMiss, match="lacks 1 translations"):
        translate(
            read_questions(published / "queries_raw.json"),
            read_documents(published / "corpus_raw.json"),
            BEARS_LANGUAGES,
            load(tmp_path / "m.jsonl", "translation"),
            TRANSLATOR,
        )


# ------------------------------------------------------------------- one text, two translations


def publish(folder: Path, *translations: Mapping[str, str]) -> PublishedMemory:
    """A set of questions with the same text, each with its own translation."""
    raw = [replace(QUESTIONS[0], question_id=f"q{n}") for n in range(len(translations))]
    done = [
        replace(question, question=t["question"], gold_answer=t["gold_answer"])
        for question, t in zip(raw, translations, strict=True)
    ]
    write_records(folder / "queries_raw.json", raw)
    write_records(folder / "queries.json", done)
    write_records(folder / "corpus_raw.json", DOCUMENTS[1:2])
    write_records(folder / "corpus.json", DOCUMENTS[1:2])
    memory = PublishedMemory(import_published(folder, LANGUAGES, TRANSLATOR))
    assert translate(raw, [], LANGUAGES, memory, TRANSLATOR) == (done, [])
    return memory


def test_translations_that_differ_are_bound_to_their_records(tmp_path: Path) -> None:
    memory = publish(
        tmp_path,
        {"question": "誰？", "gold_answer": "安"},
        {"question": "是誰？", "gold_answer": "安"},
        {"question": "誰？", "gold_answer": "安"},
    )
    assert len(memory) == 4, "three questions, and the one answer that all share"
    stranger = replace(QUESTIONS[0], question_id="another")
    with pytest.raises(MemoryMiss, match=r"lacks 1 .*\n  another question"):
        translate([stranger], [], LANGUAGES, memory, TRANSLATOR)


def test_translations_that_agree_serve_every_record(tmp_path: Path) -> None:
    same = {"question": "誰？", "gold_answer": "安"}
    memory = publish(tmp_path, same, same)
    assert len(memory) == 2
    stranger = replace(QUESTIONS[0], question_id="another")
    (done,), _ = translate([stranger], [], LANGUAGES, memory, TRANSLATOR)
    assert (done.question, done.gold_answer) == ("誰？", "安")


def test_two_documents_with_one_id_keep_their_own_texts(tmp_path: Path) -> None:
    """v1 gives one id to the two texts of a title that a row lists twice."""
    raw = [DOCUMENTS[0], replace(DOCUMENTS[0], doc_id="d9", content="Bob read it.")]
    done = [replace(raw[0], content="安寫了它。"), replace(raw[1], content="鮑伯讀了它。")]
    write_records(tmp_path / "queries_raw.json", [QUESTIONS[1]])
    write_records(tmp_path / "queries.json", [QUESTIONS[1]])
    write_records(tmp_path / "corpus_raw.json", raw)
    write_records(tmp_path / "corpus.json", done)
    memory = PublishedMemory(import_published(tmp_path, LANGUAGES, TRANSLATOR))
    twins = [raw[0], replace(raw[1], doc_id="d1")]
    _, documents = translate([], twins, LANGUAGES, memory, TRANSLATOR)
    assert [d.content for d in documents] == ["安寫了它。", "鮑伯讀了它。"]


# ---------------------------------------------------------------------------------- mini


@pytest.fixture(scope="module")
def mini() -> dict[str, Any]:
    return compose(ROOT / "conf", {"benchmark": "mini", **CHOICES})


@pytest.fixture(scope="module")
def mini_rows(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    return read_sources("mini", None, tmp_path_factory.mktemp("mini"))


def replay_mini(mini: dict[str, Any], rows: Rows, seed: int, ledger: Ledger) -> None:
    mixture = replace(parse(Mixture, mini["sample"], "sample"), seed=seed)
    drawn = sample(mixture, rows, ledger)
    languages = {name: source["language"] for name, source in mini["sources"].items()}
    memory = load(ROOT / "data" / "memory" / "mini.jsonl", "translation")
    translate(drawn.questions, drawn.documents, languages, memory, TRANSLATOR)


@pytest.mark.parametrize("seed", range(21))
def test_the_memory_of_mini_is_complete_at_every_seed(
    seed: int, mini: dict[str, Any], mini_rows: Rows
) -> None:
    replay_mini(mini, mini_rows, seed, Ledger())


def test_the_memory_of_mini_is_complete_for_every_replacement(
    mini: dict[str, Any], mini_rows: Rows
) -> None:
    mixture = parse(Mixture, mini["sample"], "sample")
    for question in sample(mixture, mini_rows, Ledger()).questions:
        ledger = Ledger(replacements=(Replacement(question.question_id, "unclear"),))
        replay_mini(mini, mini_rows, mixture.seed, ledger)
