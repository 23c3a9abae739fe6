"""Checks of the translated records against those before translation."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from bears.gates import check
from bears.language.text import Text
from bears.types import Document, Finding, Question
from bears.verification.benchmark import Benchmark

NATIVE_CHANGED = "is in the target language already, but its text was changed"


def same_records(b: Benchmark) -> Iterator[Finding]:
    """The same records in the same order, changed in nothing but their texts."""
    yield from _same_ids(
        "queries", [q.question_id for q in b.raw_questions], [q.question_id for q in b.questions]
    )
    yield from _same_ids(
        "corpus", [d.doc_id for d in b.raw_documents], [d.doc_id for d in b.documents]
    )
    raw_questions = {q.question_id: q for q in b.raw_questions}
    for question in b.questions:
        raw = raw_questions.get(question.question_id)
        if raw and replace(question, question="", gold_answer="") != replace(
            raw, question="", gold_answer=""
        ):
            message = "differs from the raw record in more than its texts"
            yield Finding("changed_field", "error", question.question_id, message)
    raw_documents = {d.doc_id: d for d in b.raw_documents}
    for document in b.documents:
        before = raw_documents.get(document.doc_id)
        if before and replace(document, content="") != replace(before, content=""):
            message = "differs from the raw record in more than its text"
            yield Finding("changed_field", "error", document.doc_id, message)


def texts(b: Benchmark) -> Iterator[Finding]:
    """Native texts are untouched; all others are in the target language."""
    raw_questions = {q.question_id: q for q in b.raw_questions}
    for question in b.questions:
        if raw := raw_questions.get(question.question_id):
            native = b.languages.get(question.source_dataset) == b.target.name
            yield from _question_texts(b, raw, question, native)
    raw_documents = {d.doc_id: d for d in b.raw_documents}
    for document in b.documents:
        if before := raw_documents.get(document.doc_id):
            native = b.languages.get(document.original_source) == b.target.name
            yield from _document_text(b, before, document, native)


def calibrated(b: Benchmark) -> Iterator[Finding]:
    """How often the gates cry at sound texts of the target language was counted."""
    if not b.target.calibrated_on and set(b.languages.values()) - {b.target.name}:
        message = f"nobody counted how often the gates are wrong about {b.target.title}"
        yield Finding("not_calibrated", "warning", b.target.name, message)


def doubts(b: Benchmark) -> Iterator[Finding]:
    """Nothing was left doubtful when the texts were translated, such as a mark that got lost."""
    for doubt in b.doubts:
        yield Finding(
            doubt["kind"], "warning", doubt["record_id"], doubt["message"], doubt["field"]
        )


def _same_ids(file: str, raw: Sequence[str], translated: Sequence[str]) -> Iterator[Finding]:
    before, after = dict.fromkeys(raw), dict.fromkeys(translated)
    for record_id in (i for i in before if i not in after):
        yield Finding("record_set", "error", record_id, f"is in {file}_raw.json only")
    for record_id in (i for i in after if i not in before):
        yield Finding("record_set", "error", record_id, f"is in {file}.json only")
    if before.keys() == after.keys() and list(raw) != list(translated):
        message = f"{file}.json has another order than {file}_raw.json"
        yield Finding("order", "error", file, message)


def _question_texts(
    b: Benchmark, raw: Question, question: Question, native: bool
) -> Iterator[Finding]:
    record_id = question.question_id
    if native:
        if (raw.question, raw.gold_answer) != (question.question, question.gold_answer):
            yield Finding("native_changed", "error", record_id, NATIVE_CHANGED)
        return
    source = b.languages.get(question.source_dataset, "")
    answers = (raw.gold_answer, question.gold_answer)
    asked = Text("question", raw.question, question.question, source, b.target.name, answers)
    answered = Text("gold_answer", *answers, source, b.target.name)
    yield from _gated(b, record_id, asked)
    yield from _gated(b, record_id, answered)


def _document_text(
    b: Benchmark, raw: Document, document: Document, native: bool
) -> Iterator[Finding]:
    if native:
        if raw.content != document.content:
            yield Finding("native_changed", "error", document.doc_id, NATIVE_CHANGED)
        return
    source = b.languages.get(document.original_source, "")
    text = Text("content", raw.content, document.content, source, b.target.name)
    yield from _gated(b, document.doc_id, text)


def _gated(b: Benchmark, record_id: str, text: Text) -> Iterator[Finding]:
    # `structure.empty_texts` says it of native texts too.
    for flag in check(text, b.target, {**b.gates, "empty": "off"}):
        yield Finding(flag.gate, flag.severity, record_id, flag.message, text.field)
