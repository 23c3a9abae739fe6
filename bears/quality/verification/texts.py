"""Checks of the texts: against those before translation, and against the declared language."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from bears.language.declared import LENGTH, MOST, SOME, contradiction, disagreeing
from bears.language.gates import check
from bears.language.text import Text
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.types import Finding

CHANGED = "differs from the raw record in more than its texts"
NATIVE_CHANGED = "is in the target language already, but its text was changed"


def same_records(b: TranslatedBenchmark) -> Iterator[Finding]:
    """The same records in the same order, changed in nothing but their texts."""
    yield from _same_ids(
        "queries", [q.question_id for q in b.raw_questions], [q.question_id for q in b.questions]
    )
    yield from _same_ids(
        "corpus", [d.doc_id for d in b.raw_documents], [d.doc_id for d in b.documents]
    )
    for raw, question in b.questions_beside():
        if replace(question, question=raw.question, gold_answer=raw.gold_answer) != raw:
            yield Finding("changed_field", "error", question.question_id, CHANGED)
    for before, document in b.documents_beside():
        if replace(document, content=before.content) != before:
            yield Finding("changed_field", "error", document.doc_id, CHANGED)


def texts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Native texts are untouched; all others are in the target language."""
    for raw, question in b.questions_beside():
        answers = (raw.gold_answer, question.gold_answer)
        languages = (b.languages.get(question.source_dataset, ""), b.target.name)
        asked = Text("question", raw.question, question.question, *languages, answers)
        yield from _of_record(
            b, question.question_id, [asked, Text("gold_answer", *answers, *languages)]
        )
    for before, document in b.documents_beside():
        languages = (b.languages.get(document.original_source, ""), b.target.name)
        text = Text("content", before.content, document.content, *languages)
        yield from _of_record(b, document.doc_id, [text])


def calibrated(b: TranslatedBenchmark) -> Iterator[Finding]:
    """How often the gates cry at sound texts of the target language was counted."""
    if not b.target.calibrated_on and set(b.languages.values()) - {b.target.name}:
        message = f"nobody counted how often the gates are wrong about {b.target.title}"
        yield Finding("not_calibrated", "warning", b.target.name, message)


def doubts(b: TranslatedBenchmark) -> Iterator[Finding]:
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


def _of_record(b: TranslatedBenchmark, record_id: str, found: Sequence[Text]) -> Iterator[Finding]:
    for text in found:
        if text.source_language == text.target and text.source != text.translation:
            yield Finding("native_changed", "error", record_id, NATIVE_CHANGED)
            return
        # `structure.empty_texts` says it of native texts too.
        for flag in check(text, b.target, {**b.gates, "empty": "off"}):
            yield Finding(flag.gate, flag.severity, record_id, flag.message, text.field)


LOOKED_AT = 2000
"""So many questions and documents, evenly spread, are held against the declared language."""
T = TypeVar("T")


class _DeclaredText(NamedTuple):
    source: str
    record_id: str
    field: str
    text: str


def languages(b: TranslatedBenchmark) -> Iterator[Finding]:
    """A set most of whose texts are of another language is an error; a text of it, a warning.

    A set is the questions or the documents of one source, or of all where a benchmark is taken as
    it is. What gates say of a translated text is not said again.
    """
    if not b.written_in:
        return
    questions = (
        _DeclaredText(q.source_dataset, q.question_id, "question", q.question)
        for q in _some(b.questions)
    )
    documents = (
        _DeclaredText(d.original_source, d.doc_id, "content", d.content) for d in _some(b.documents)
    )
    for what, texts in (("questions", questions), ("documents", documents)):
        sets = defaultdict(list)
        for text in texts:
            sets["" if b.shares is None else text.source].append(text)
        for source, found in sets.items():
            yield from _of_set(b, f"{source} {what}".strip(), found)


def _some(records: Sequence[T]) -> Sequence[T]:
    return records[:: -(-len(records) // LOOKED_AT) or 1]


def _of_set(b: TranslatedBenchmark, name: str, texts: Sequence[_DeclaredText]) -> Iterator[Finding]:
    reason, share = disagreeing((each.text for each in texts), b.written_in)
    if share > SOME:
        message = f"{share:.0%} of them do not look like {b.written_in}: {reason}"
        yield Finding("language", "error" if share > MOST else "warning", name, message)
    if share > MOST:
        return
    for each in texts:
        native = b.languages.get(each.source) == b.target.name
        if native and (found := contradiction(each.text[:LENGTH], b.written_in)):
            message = f"does not look like {b.written_in}: {found}"
            yield Finding("language", "warning", each.record_id, message, each.field)
