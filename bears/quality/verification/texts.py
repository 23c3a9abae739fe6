"""Check texts: against those before translation, and against the declared language."""

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
SAMPLED = 2000
"""How many questions and documents, evenly spread, are compared with the declared language."""
T = TypeVar("T")


class _DeclaredText(NamedTuple):
    source: str
    record_id: str
    field: str
    text: str


def same_records(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find records that are missing, added, moved, or changed in more than their texts."""
    question_ids = [[q.question_id for q in side] for side in (b.raw_questions, b.questions)]
    doc_ids = [[d.doc_id for d in side] for side in (b.raw_documents, b.documents)]
    yield from _same_ids("queries", *question_ids)
    yield from _same_ids("corpus", *doc_ids)
    for raw, question in b.questions_beside():
        if replace(question, question=raw.question, gold_answer=raw.gold_answer) != raw:
            yield Finding("changed_field", "error", question.question_id, CHANGED)
    for before, document in b.documents_beside():
        if replace(document, content=before.content) != before:
            yield Finding("changed_field", "error", document.doc_id, CHANGED)


def _same_ids(file: str, raw: Sequence[str], translated: Sequence[str]) -> Iterator[Finding]:
    before, after = dict.fromkeys(raw), dict.fromkeys(translated)
    for name, here, there in ((f"{file}_raw", before, after), (file, after, before)):
        for record_id in (i for i in here if i not in there):
            yield Finding("record_set", "error", record_id, f"is in {name}.json only")
    if before.keys() == after.keys() and list(raw) != list(translated):
        message = f"{file}.json has another order than {file}_raw.json"
        yield Finding("order", "error", file, message)


def texts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find native texts that were changed, and gates that other texts fail."""
    for raw, question in b.questions_beside():
        answers = (raw.gold_answer, question.gold_answer)
        languages = (b.languages.get(question.source_dataset, ""), b.target.name)
        asked = Text("question", raw.question, question.question, *languages, answers)
        answer = Text("gold_answer", *answers, *languages)
        yield from _of_record(b, question.question_id, [asked, answer])
    for before, document in b.documents_beside():
        languages = (b.languages.get(document.original_source, ""), b.target.name)
        text = Text("content", before.content, document.content, *languages)
        yield from _of_record(b, document.doc_id, [text])


def _of_record(b: TranslatedBenchmark, record_id: str, texts: Sequence[Text]) -> Iterator[Finding]:
    for text in texts:
        if text.source_language == text.target and text.source != text.translation:
            yield Finding("native_changed", "error", record_id, NATIVE_CHANGED)
            return
        # `structure.empty_texts` reports empty texts, native ones included.
        for flag in check(text, b.target, {**b.gates, "empty": "off"}):
            yield Finding(flag.gate, flag.severity, record_id, flag.message, text.field)


def calibrated(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Warn if the gates' rate of false alarms was never measured for the language."""
    if not b.target.calibrated_on and set(b.languages.values()) - {b.target.name}:
        message = f"the false alarms of the gates were never counted for {b.target.title}"
        yield Finding("not_calibrated", "warning", b.target.name, message)


def doubts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Report doubts that the translation itself noted, such as a lost mark."""
    for doubt in b.doubts:
        yield Finding(
            doubt["kind"], "warning", doubt["record_id"], doubt["message"], doubt["field"]
        )


def languages(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find texts that are not in the declared language.

    If most texts of a set contradict the declared language, that is an error; single texts are
    warnings. A set is the questions or the documents of one source, or of all sources if a
    benchmark is taken whole. Translated texts are left to the gates.
    """
    if not b.written_in:
        return
    questions = [
        _DeclaredText(q.source_dataset, q.question_id, "question", q.question)
        for q in _some(b.questions)
    ]
    documents = [
        _DeclaredText(d.original_source, d.doc_id, "content", d.content) for d in _some(b.documents)
    ]
    for what, texts in (("questions", questions), ("documents", documents)):
        sets = defaultdict(list)
        for text in texts:
            sets["" if b.shares is None else text.source].append(text)
        for source, of_source in sets.items():
            yield from _of_set(b, f"{source} {what}".strip(), of_source)


def _some(records: Sequence[T]) -> Sequence[T]:
    return records[:: -(-len(records) // SAMPLED) or 1]


def _of_set(b: TranslatedBenchmark, name: str, texts: Sequence[_DeclaredText]) -> Iterator[Finding]:
    reason, share = disagreeing((text.text for text in texts), b.written_in)
    if share > SOME:
        message = f"{share:.0%} of them do not look like {b.written_in}: {reason}"
        yield Finding("language", "error" if share > MOST else "warning", name, message)
    if share > MOST:
        return
    for text in texts:
        native = b.languages.get(text.source) == b.target.name
        if native and (found := contradiction(text.text[:LENGTH], b.written_in)):
            message = f"does not look like {b.written_in}: {found}"
            yield Finding("language", "warning", text.record_id, message, text.field)
