"""Checks of what is there: counts, ids, references, duplicates. They need no language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bears.types import Document, Finding
from bears.verification.benchmark import Benchmark


def counts(b: Benchmark) -> Iterator[Finding]:
    """As many questions and documents as asked for."""
    for what, found, expected in (
        ("questions", len(b.questions), sum(b.shares.values())),
        ("documents", len(b.documents), b.size),
    ):
        if found != expected:
            yield Finding("count", "error", what, f"{found} {what}, expected {expected}")


def source_distribution(b: Benchmark) -> Iterator[Finding]:
    """As many questions of each source as asked for, source by source in the asked order."""
    found = Counter(question.source_dataset for question in b.questions)
    for source in {**b.shares, **found}:
        if found[source] != b.shares.get(source, 0):
            message = f"{found[source]} questions, expected {b.shares.get(source, 0)}"
            yield Finding("source_distribution", "error", source, message)
    order = list(dict.fromkeys(question.source_dataset for question in b.questions))
    if order != [source for source in b.shares if found[source]]:
        message = f"sources come in the order {order}, expected {list(b.shares)}"
        yield Finding("order", "error", "questions", message)


def unique_ids(b: Benchmark) -> Iterator[Finding]:
    """Every question_id and doc_id once."""
    for check, ids in (
        ("duplicate_question_id", Counter(q.question_id for q in b.questions)),
        ("duplicate_doc_id", Counter(d.doc_id for d in b.documents)),
    ):
        for identifier, times in ids.items():
            if times > 1:
                yield Finding(check, "error", identifier, f"stands {times} times")


def gold(b: Benchmark) -> Iterator[Finding]:
    """Gold is there, is in the pool, and ``is_gold`` says exactly which documents it is."""
    pool = {document.doc_id for document in b.documents}
    referenced = {doc_id for question in b.questions for doc_id in question.gold_doc_ids}
    for question in b.questions:
        if not question.gold_doc_ids:
            yield Finding("gold_missing", "error", question.question_id, "has no gold document")
        if len(set(question.gold_doc_ids)) != len(question.gold_doc_ids):
            yield Finding("gold_repeated", "error", question.question_id, "names a document twice")
        for doc_id in question.gold_doc_ids:
            if doc_id not in pool:
                message = f"gold document {doc_id} is not in the pool"
                yield Finding("gold_not_in_pool", "error", question.question_id, message)
    for document in b.documents:
        if document.is_gold != (document.doc_id in referenced):
            message = "is_gold is set, but no question names the document"
            if not document.is_gold:
                message = "a question names the document, but is_gold is not set"
            yield Finding("is_gold", "error", document.doc_id, message)


def duplicate_contents(b: Benchmark) -> Iterator[Finding]:
    """No two documents, and no two questions, with the same text, before or after translation."""
    for where, documents in (("", b.documents), ("before translation, ", b.raw_documents)):
        yield from _same_text(documents, where)
    texts: dict[str, str] = {}
    for question in b.questions:
        first = texts.setdefault(question.question, question.question_id)
        if first != question.question_id:
            message = f"asks the same as {first}"
            yield Finding("duplicate_question", "warning", question.question_id, message)


def _same_text(documents: Sequence[Document], where: str) -> Iterator[Finding]:
    first: dict[str, Document] = {}
    for document in documents:
        known = first.setdefault(document.content, document)
        if known is not document:
            message = f"{where}has the same text as {known.doc_id}"
            yield Finding("duplicate_content", "error", document.doc_id, message)


def empty_texts(b: Benchmark) -> Iterator[Finding]:
    """No empty question, answer or document."""
    for question in b.questions:
        for name in ("question", "gold_answer"):
            if not getattr(question, name).strip():
                yield Finding("empty", "error", question.question_id, f"{name} is empty")
    for document in b.documents:
        if not document.content.strip():
            yield Finding("empty", "error", document.doc_id, "content is empty")


def ledger_entries(b: Benchmark) -> Iterator[Finding]:
    """Every ledger entry names a record of the sample."""
    for record_id in b.unmatched:
        yield Finding("ledger", "warning", record_id, "the ledger names it, the sample lacks it")
