"""Verification: silent about a sound benchmark, and one finding for one thing wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bears.configuration import compose, parse
from bears.formats.records import read_documents, read_questions
from bears.language.profile import Language
from bears.language.scripts import letters, script_share
from bears.sampling.ledger import Ledger
from bears.sampling.recipe import Recipe
from bears.sampling.sample import sample
from bears.translation.memory import Translator, load
from bears.types import Document, Finding, Question
from bears.verification.benchmark import Benchmark
from bears.verification.verify import Acceptance, summarise, verify
from tests.test_sampling import CHOICES, ROOT, read_sources
from tests.translating import translate

CHINESE = compose(ROOT / "conf", {"benchmark": "mini", **CHOICES})["language"]


TARGET = parse(Language, CHINESE, "language")
RAW_QUESTIONS = [
    Question("q1", "玉山多高？", "3952公尺", ("d1",), "drcd", "single-hop"),
    Question("q2", "Who wrote it?", "Ann", ("d2", "d3"), "hotpotqa", "multi-hop"),
]
RAW_DOCUMENTS = [
    Document("d1", "玉山主峰海拔3952公尺。", "drcd", "1", True),
    Document("d2", "Ann wrote the book.", "hotpotqa", "2", True),
    Document("d3", "The book is old.", "hotpotqa", "3", True),
    Document("d4", "A dog ran by.", "hotpotqa", "4", False),
]
QUESTIONS = [RAW_QUESTIONS[0], replace(RAW_QUESTIONS[1], question="是誰寫的？", gold_answer="安")]
DOCUMENTS = [
    RAW_DOCUMENTS[0],
    replace(RAW_DOCUMENTS[1], content="安（Ann）寫了這本書。"),
    replace(RAW_DOCUMENTS[2], content="這本書很舊。"),
    replace(RAW_DOCUMENTS[3], content="一隻狗跑過。"),
]
SOUND = Benchmark(
    raw_questions=RAW_QUESTIONS,
    raw_documents=RAW_DOCUMENTS,
    questions=QUESTIONS,
    documents=DOCUMENTS,
    shares={"drcd": 1, "hotpotqa": 1},
    size=4,
    languages={"drcd": "zh-Hant-TW", "hotpotqa": "en"},
    target=TARGET,
)


def both(kind: str, position: int, **changes: Any) -> Benchmark:
    """The sound benchmark with one record changed before and after translation alike."""
    return changed(changed(SOUND, f"raw_{kind}", position, changes), kind, position, changes)


def after(kind: str, position: int, **changes: Any) -> Benchmark:
    """The sound benchmark with one translated record changed."""
    return changed(SOUND, kind, position, changes)


def changed(benchmark: Benchmark, name: str, position: int, changes: dict[str, Any]) -> Benchmark:
    records = list(getattr(benchmark, name))
    records[position] = replace(records[position], **changes)
    fields: dict[str, Any] = {name: records}
    return replace(benchmark, **fields)


def found(benchmark: Benchmark) -> list[tuple[str, str, str]]:
    return [(f.check, f.severity, f.record_id) for f in verify(benchmark)]


def test_a_sound_benchmark_gives_no_finding() -> None:
    assert verify(SOUND) == []
    assert summarise([]) == {"errors": 0, "warnings": 0, "accepted": 0, "findings": {}}


# ----------------------------------------------------------- one change, and what it is called

Expected = list[tuple[str, str, str]]
COPY = Document("d5", "一隻貓。", "drcd", "5", False)


def added(document: Document) -> Benchmark:
    return replace(
        SOUND,
        raw_documents=[*RAW_DOCUMENTS, document],
        documents=[*DOCUMENTS, document],
        size=5,
    )


@pytest.mark.parametrize(
    ("benchmark", "expected"),
    [
        (replace(SOUND, size=5), [("count", "error", "documents")]),
        (
            replace(SOUND, shares={"drcd": 2, "hotpotqa": 1}),
            [("count", "error", "questions"), ("source_distribution", "error", "drcd")],
        ),
        (
            replace(SOUND, shares={"drcd": 2}),
            [
                ("source_distribution", "error", "drcd"),
                ("source_distribution", "error", "hotpotqa"),
                ("order", "error", "questions"),
            ],
        ),
        (
            replace(SOUND, shares={"hotpotqa": 1, "drcd": 1}),
            [("order", "error", "questions")],
        ),
        (added(COPY), []),
        (both("questions", 1, gold_doc_ids=("d2", "d3", "d2")), [("gold_repeated", "error", "q2")]),
        (
            both("questions", 1, gold_doc_ids=("d2", "d3", "d9")),
            [("gold_not_in_pool", "error", "q2")],
        ),
        (both("questions", 1, gold_doc_ids=("d2",)), [("is_gold", "error", "d3")]),
        (both("documents", 3, is_gold=True), [("is_gold", "error", "d4")]),
        (both("documents", 1, is_gold=False), [("is_gold", "error", "d2")]),
        (after("documents", 3, content="這本書很舊。"), [("duplicate_content", "error", "d4")]),
        (
            replace(
                SOUND,
                raw_documents=[
                    *RAW_DOCUMENTS[:3],
                    replace(RAW_DOCUMENTS[3], content="The book is old."),
                ],
            ),
            [("duplicate_content", "error", "d4")],
        ),
        (after("questions", 1, question="玉山多高？"), [("duplicate_question", "warning", "q2")]),
        (after("questions", 1, question=" "), [("empty", "error", "q2")]),
        (after("questions", 1, gold_answer=""), [("empty", "error", "q2")]),
        (after("documents", 3, content="\n"), [("empty", "error", "d4")]),
        (replace(SOUND, unmatched=["q9"]), [("ledger", "warning", "q9")]),
        (
            replace(SOUND, raw_questions=[RAW_QUESTIONS[0]]),
            [("record_set", "error", "q2")],
        ),
        (replace(SOUND, raw_documents=RAW_DOCUMENTS[:3]), [("record_set", "error", "d4")]),
        (
            replace(SOUND, documents=DOCUMENTS[:3]),
            [("count", "error", "documents"), ("record_set", "error", "d4")],
        ),
        (replace(SOUND, documents=DOCUMENTS[::-1]), [("order", "error", "corpus")]),
        (replace(SOUND, raw_questions=RAW_QUESTIONS[::-1]), [("order", "error", "queries")]),
        (after("questions", 1, question_type="single-hop"), [("changed_field", "error", "q2")]),
        (after("documents", 3, original_id="x"), [("changed_field", "error", "d4")]),
        (after("documents", 3, original_source="2wiki"), [("changed_field", "error", "d4")]),
        (after("questions", 0, question="玉山有多高？"), [("native_changed", "error", "q1")]),
        (after("questions", 0, gold_answer="高"), [("native_changed", "error", "q1")]),
        (after("documents", 0, content="玉山。"), [("native_changed", "error", "d1")]),
        (after("questions", 1, question="Who wrote it?"), [("untranslated", "error", "q2")]),
        (after("documents", 3, content="A dog ran by."), [("untranslated", "error", "d4")]),
        (after("questions", 1, gold_answer="Ann"), [("answer_unchanged", "warning", "q2")]),
        (after("documents", 3, content="One dog (狗) ran by here."), [("language", "error", "d4")]),
        (after("questions", 1, question="Wer hat es geschrieben?"), [("language", "error", "q2")]),
    ],
)  # fmt: skip
def test_each_check_is_tripped_by_one_change(benchmark: Benchmark, expected: Expected) -> None:
    assert found(benchmark) == expected


def test_a_second_copy_of_a_document_is_named() -> None:
    doubled = replace(
        SOUND,
        raw_documents=[*RAW_DOCUMENTS, replace(RAW_DOCUMENTS[3])],
        documents=[*DOCUMENTS, replace(DOCUMENTS[3])],
        size=5,
    )
    assert found(doubled) == [
        ("duplicate_doc_id", "error", "d4"),
        ("duplicate_content", "error", "d4"),
        ("duplicate_content", "error", "d4"),
    ]


def test_a_second_document_with_the_same_text_is_named_before_and_after() -> None:
    findings = verify(added(replace(COPY, content="玉山主峰海拔3952公尺。")))
    assert [(f.check, f.record_id, f.message) for f in findings] == [
        ("duplicate_content", "d5", "has the same text as d1"),
        ("duplicate_content", "d5", "before translation, has the same text as d1"),
    ]
    assert {f.severity for f in findings} == {"error"}


def test_two_questions_of_one_id_are_an_error() -> None:
    assert ("duplicate_question_id", "error", "q1") in found(both("questions", 1, question_id="q1"))


def test_a_question_without_gold_is_an_error() -> None:
    assert found(both("questions", 1, gold_doc_ids=())) == [
        ("gold_missing", "error", "q2"),
        ("is_gold", "error", "d2"),
        ("is_gold", "error", "d3"),
    ]


def test_numbers_alone_need_no_translation() -> None:
    numbers = both("documents", 3, content="1990–1995, 3.14")
    assert verify(numbers) == []
    assert verify(both("questions", 1, gold_answer="1990")) == []


def test_a_message_says_what_is_wrong_with_the_text() -> None:
    (finding,) = verify(after("documents", 3, content="One dog (狗) ran by here."))
    assert finding.message.startswith("content has 17% Traditional Chinese (Taiwan) against")
    assert "'One dog (狗) ran by here.'" in finding.message


def test_many_records_are_compared_in_little_time() -> None:
    documents = [replace(COPY, doc_id=f"x{n}", content=f"第{n}段。") for n in range(20_000)]
    benchmark = replace(
        SOUND,
        raw_documents=[*RAW_DOCUMENTS, *documents],
        documents=[*DOCUMENTS, *documents],
        size=20_004,
    )
    assert verify(benchmark) == []


# --------------------------------------------------------------------------- what is accepted


def test_an_accepted_finding_is_no_error_and_says_why() -> None:
    benchmark = both("documents", 3, is_gold=True)
    (finding,) = verify(benchmark, [Acceptance("is_gold", "d4", "kept on purpose")])
    assert finding == Finding(
        "is_gold",
        "accepted",
        "d4",
        "is_gold is set, but no question names the document (kept on purpose)",
    )
    assert summarise([finding])["accepted"] == 1
    assert summarise([finding])["errors"] == 0


@pytest.mark.parametrize(
    ("check", "record_id", "severity"),
    [
        ("is_gold", "*", "accepted"),
        ("is_gold", "d3", "error"),
        ("gold_missing", "d4", "error"),
        ("*", "d4", "error"),
    ],
)
def test_an_acceptance_names_its_check_and_its_record(
    check: str, record_id: str, severity: str
) -> None:
    accepted = [Acceptance(check, record_id, "why")]
    assert [f.severity for f in verify(both("documents", 3, is_gold=True), accepted)] == [severity]


def test_findings_are_counted_by_severity_and_check() -> None:
    findings = [
        Finding("language", "error", "a", ""),
        Finding("language", "accepted", "b", ""),
        Finding("count", "error", "c", ""),
        Finding("ledger", "warning", "d", ""),
    ]
    assert summarise(findings) == {
        "errors": 2,
        "warnings": 1,
        "accepted": 1,
        "findings": {"count": 1, "language": 2, "ledger": 1},
    }


# ------------------------------------------------------------------------------- real benchmarks


def configured(name: str) -> tuple[dict[str, Any], list[Acceptance]]:
    config = compose(ROOT / "conf", {"benchmark": name, **CHOICES})
    return config, [parse(Acceptance, entry, "accept") for entry in config["benchmark"]["accept"]]


def benchmark_of(
    config: dict[str, Any],
    raw: tuple[Sequence[Question], Sequence[Document]],
    translated: tuple[Sequence[Question], Sequence[Document]],
) -> Benchmark:
    return Benchmark(
        *raw,
        *translated,
        shares={share["source"]: share["questions"] for share in config["sample"]["sources"]},
        size=config["sample"]["documents"],
        languages={name: source["language"] for name, source in config["sources"].items()},
        target=TARGET,
    )


def test_the_published_bears_has_no_error(shared_data: Path) -> None:
    folder = shared_data / "bears-published"
    config, accepted = configured("bears-published")
    raw, translated = (
        (read_questions(folder / queries), read_documents(folder / corpus))
        for queries, corpus in (
            ("queries_raw.json", "corpus_raw.json"),
            ("queries.json", "corpus.json"),
        )
    )
    findings = verify(benchmark_of(config, raw, translated), accepted)
    assert [f for f in findings if f.severity == "error"] == []


def test_mini_has_no_error_at_any_seed(tmp_path: Path) -> None:
    config, accepted = configured("mini")
    rows = read_sources("mini", None, tmp_path)
    languages = {name: source["language"] for name, source in config["sources"].items()}
    memory = load(ROOT / "data" / "memory" / "mini.jsonl")
    translator = Translator("published", {}, "zh-Hant-TW")
    for seed in (42, *range(5)):
        recipe = replace(parse(Recipe, config["sample"], "sample"), seed=seed)
        drawn = sample(recipe, rows, Ledger())
        raw = drawn.questions, drawn.documents
        translated = translate(*raw, languages, memory, translator)
        findings = verify(benchmark_of(config, raw, translated), accepted)
        assert [f for f in findings if f.severity == "error"] == []


# ------------------------------------------------------------------------------------ scripts

HAN, KANA, LATIN = ("HAN",), ("HAN", "KANA"), ("LATIN",)


@pytest.mark.parametrize(
    ("text", "scripts", "share"),
    [
        ("玉山主峰海拔3952公尺。", HAN, 1),
        ("玉山主峰", LATIN, 0),
        ("人人為我，我為人人；人々", HAN, 1),
        # Five words of English, two characters: the words weigh more.
        ("The hill 玉山 is very high", HAN, 2 / 7),
        ("安（Ann Lee）寫了書", HAN, 4 / 6),
        ("玉山はとても高い", HAN, 3 / 8),
        ("玉山はとても高い", KANA, 1),
        ("コーヒー", KANA, 1),
        ("ｺｰﾋｰ", KANA, 1),
        ("한국의 산", ("HANGUL",), 1),
        ("한국의 산", HAN, 0),
        ("Ein hoher Berg", LATIN, 1),
        ("Ｅｉｎ Ｂｅｒｇ", LATIN, 1),
        ("Ein hoher Berg", HAN, 0),
        ("Гора Berg", LATIN, 1 / 2),
        ("Гора Berg", ("CYRILLIC",), 1 / 2),
        ("1990 – 3.14 !", HAN, 1),
        ("", HAN, 1),
    ],
)
def test_the_share_of_a_script(text: str, scripts: tuple[str, ...], share: float) -> None:
    assert script_share(text, scripts) == pytest.approx(share)


def test_digits_and_marks_are_no_letters() -> None:
    assert letters("玉山 3952 (Ann)!") == 5


def test_native_texts_are_far_above_and_english_ones_far_below_the_least_share(
    shared_data: Path,
) -> None:
    least = CHINESE["min_share"]
    for document in read_documents(shared_data / "bears-published" / "corpus_raw.json"):
        share = script_share(document.content, HAN)
        if document.original_source == "drcd":
            assert share > 2 * least
        else:
            assert share < least / 2
