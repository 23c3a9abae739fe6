"""Checks of what is there: counts, ids, references, duplicates. They need no language."""

from collections import Counter
from collections.abc import Iterator, Sequence

from bears.files.intake.texts import blank
from bears.quality.verification.benchmark import TranslatedBenchmark
from bears.types import Document, Finding, Question


def counts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """As many questions and documents as asked for, and at least one of each."""
    asked = None if b.shares is None else sum(b.shares.values())
    for what, found, expected in (
        ("questions", len(b.questions), asked),
        ("documents", len(b.documents), b.size),
    ):
        if expected is None and not found:
            yield Finding("count", "error", what, f"there are no {what}")
        elif expected is not None and found != expected:
            yield Finding("count", "error", what, f"{found} {what}, expected {expected}")


def source_distribution(b: TranslatedBenchmark) -> Iterator[Finding]:
    """As many questions of each source as asked for, source by source in the asked order."""
    if b.shares is None:
        return
    found = Counter(question.source_dataset for question in b.questions)
    for source in {**b.shares, **found}:
        if found[source] != b.shares.get(source, 0):
            message = f"{found[source]} questions, expected {b.shares.get(source, 0)}"
            yield Finding("source_distribution", "error", source, message)
    order = list(dict.fromkeys(question.source_dataset for question in b.questions))
    if order != [source for source in b.shares if found[source]]:
        message = f"sources come in the order {order}, expected {list(b.shares)}"
        yield Finding("order", "error", "questions", message)


def unique_ids(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Every question_id and doc_id once."""
    for check, ids in (
        ("duplicate_question_id", Counter(q.question_id for q in b.questions)),
        ("duplicate_doc_id", Counter(d.doc_id for d in b.documents)),
    ):
        for identifier, times in ids.items():
            if times > 1:
                yield Finding(check, "error", identifier, f"stands {times} times")


def words(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Every id is one word, since a run file parts its columns by white space."""
    for identifier in (*(q.question_id for q in b.questions), *(d.doc_id for d in b.documents)):
        if len(identifier.split()) != 1:
            message = f"the id {identifier!r} is empty or holds white space"
            yield Finding("id_form", "error", identifier, message)


def gold(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Gold is there, is in the pool, and ``is_gold`` says exactly which documents it is."""
    pool = {document.doc_id for document in b.documents}
    referenced = {doc_id for question in b.questions for doc_id in question.gold_doc_ids}
    for question in b.questions:
        yield from _consistent(question)
        if len(set(question.gold_doc_ids)) != len(question.gold_doc_ids):
            yield Finding("gold_repeated", "error", question.question_id, "names a document twice")
        for doc_id in question.gold_doc_ids:
            if doc_id not in pool:
                message = f"gold document {doc_id} is not in the pool"
                yield Finding("gold_not_in_pool", "error", question.question_id, message)
        for doc_id in {i for answer in question.answers for i in answer.evidence_doc_ids} - pool:
            message = f"evidence {doc_id} is not in the pool"
            yield Finding("evidence_not_in_pool", "error", question.question_id, message)
    for document in b.documents:
        if document.is_gold != (document.doc_id in referenced):
            message = "is_gold is set, but no question names the document"
            if not document.is_gold:
                message = "a question names the document, but is_gold is not set"
            yield Finding("is_gold", "error", document.doc_id, message)


def _consistent(question: Question) -> Iterator[Finding]:
    """What a question says of its gold goes together."""
    number, unwanted = len(question.gold_doc_ids), question.question_type == "no-retrieval"
    if not number and question.judged and not unwanted:
        yield Finding("gold_missing", "error", question.question_id, "has no gold document")
    if number and (unwanted or not question.judged):
        what = "needs no retrieval" if unwanted else "is not judged"
        yield Finding("gold_unexpected", "error", question.question_id, f"{what}, but has gold")
    if grades := question.gold_grades:
        if len(grades) != number:
            message = f"has {len(grades)} grades for {number} gold documents"
            yield Finding("gold_grades", "error", question.question_id, message)
        elif min(grades) < 1:
            message = f"has a gold document of grade {min(grades)}; grades begin at 1"
            yield Finding("gold_grades", "error", question.question_id, message)


def groups(b: TranslatedBenchmark) -> Iterator[Finding]:
    """A question that may be asked of a group of documents finds one there."""
    there = {document.group for document in b.documents}
    for question in b.questions:
        if question.group and question.group not in there:
            message = f"no document is of its group {question.group!r}"
            yield Finding("group_empty", "warning", question.question_id, message)


def duplicate_contents(b: TranslatedBenchmark) -> Iterator[Finding]:
    """No two documents, and no two questions, with the same text, before or after translation."""
    yield from _same_text(b.documents, "")
    if b.raw_documents is not b.documents:
        yield from _same_text(b.raw_documents, "before translation, ")
    asked: dict[tuple[object, ...], str] = {}
    for question in b.questions:
        # Of another paper, or after other words, the same words ask something else.
        key = (question.question, question.turns, question.group)
        first = asked.setdefault(key, question.question_id)
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


def empty_texts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """No empty question or document, and no empty answer where questions were made with one."""
    for question in b.questions:
        answered = question.question_type in ("single-hop", "multi-hop")
        for name in ("question", "gold_answer") if answered else ("question",):
            if blank(getattr(question, name)):
                yield Finding("empty", "error", question.question_id, f"{name} is empty")
    for document in b.documents:
        if blank(document.content):
            yield Finding("empty", "error", document.doc_id, "content is empty")


def ledger_entries(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Every ledger entry names a record of the sample."""
    for record_id in b.unmatched:
        yield Finding("ledger", "warning", record_id, "the ledger names it, the sample lacks it")
