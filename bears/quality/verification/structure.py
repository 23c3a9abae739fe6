"""A translated benchmark, and the checks of its counts, ids, references and duplicates."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bears.config.ledger.entries import PairDecision
from bears.files.visible import blank, one_line
from bears.language.gates import GateSeverity, Severity
from bears.language.profile import Language
from bears.language.quotations import QuotedText
from bears.types import Document, Finding, Question


@dataclass(frozen=True)
class TranslatedBenchmark:
    """All that the checks compare.

    Args:
        raw_questions: before translation.
        raw_documents: before translation.
        questions: after translation.
        documents: after translation.
        shares: source name to the configured number of questions, in the configured order; None
            for a benchmark that is taken whole.
        size: the configured number of documents; None for a benchmark that is taken whole.
        languages: source name to BCP 47 tag.
        target: the language that texts are translated into.
        written_in: the tag that the finished texts are indexed under; empty if unknown.
        gates: gate to severity, see `bears.language.gates`.
        bundle_gates: the same for answer_lost and term_consistency.
        terms: question_id to the (source, rendering) pairs that its texts should use.
        doubts: doubts that the translation noted: record_id, field, kind, message.
        judgements: people's decisions about documents and passages.
    """

    raw_questions: Sequence[Question]
    raw_documents: Sequence[Document]
    questions: Sequence[Question]
    documents: Sequence[Document]
    shares: Mapping[str, int] | None
    size: int | None
    languages: Mapping[str, str]
    target: Language
    written_in: str = ""
    gates: Mapping[str, GateSeverity] = field(default_factory=dict)
    bundle_gates: Mapping[str, Severity] = field(default_factory=dict)
    terms: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    doubts: Sequence[Mapping[str, str]] = ()
    judgements: Sequence[PairDecision] = ()

    def questions_beside(self) -> Iterator[tuple[Question, Question]]:
        """Yield each question that both sides have, as (before, after)."""
        before = {question.question_id: question for question in self.raw_questions}
        return ((before[q.question_id], q) for q in self.questions if q.question_id in before)

    def documents_beside(self) -> Iterator[tuple[Document, Document]]:
        """Yield each document that both sides have, as (before, after)."""
        before = {document.doc_id: document for document in self.raw_documents}
        return ((before[d.doc_id], d) for d in self.documents if d.doc_id in before)


def _error(check: str, record_id: str, message: str) -> Finding:
    return Finding(check, "error", record_id, message)


def counts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find a number of questions or documents that differs from the configured one, or is zero."""
    expected = None if b.shares is None else sum(b.shares.values())
    for what, found, wanted in (
        ("questions", len(b.questions), expected),
        ("documents", len(b.documents), b.size),
    ):
        if wanted is None and not found:
            yield _error("count", what, f"there are no {what}")
        elif wanted is not None and found != wanted:
            yield _error("count", what, f"{found} {what}, expected {wanted}")


def source_distribution(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find sources with another number of questions than configured, or in another order."""
    if b.shares is None:
        return
    found = Counter(question.source_dataset for question in b.questions)
    for source in {**b.shares, **found}:
        if found[source] != b.shares.get(source, 0):
            message = f"{found[source]} questions, expected {b.shares.get(source, 0)}"
            yield _error("source_distribution", source, message)
    order = list(found)
    if order != [source for source in b.shares if found[source]]:
        message = f"sources come in the order {order}, expected {list(b.shares)}"
        yield _error("order", "questions", message)


def ids(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find repeated ids, and ids that are not one word; run files separate columns by spaces."""
    question_ids, doc_ids = [q.question_id for q in b.questions], [d.doc_id for d in b.documents]
    for name, found in (("question_id", question_ids), ("doc_id", doc_ids)):
        for identifier, times in Counter(found).items():
            if times > 1:
                yield _error(f"duplicate_{name}", identifier, f"occurs {times} times")
    for identifier in (*question_ids, *doc_ids):
        if len(identifier.split()) != 1:
            message = f"the id {identifier!r} is empty or contains white space"
            yield _error("id_form", identifier, message)


def gold(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find gold that is inconsistent or not in the pool, and documents with a wrong ``is_gold``."""
    pool = {document.doc_id for document in b.documents}
    referenced = {doc_id for question in b.questions for doc_id in question.gold_doc_ids}
    for question in b.questions:
        yield from _consistent(question)
        if len(set(question.gold_doc_ids)) != len(question.gold_doc_ids):
            yield _error("gold_repeated", question.question_id, "names a document twice")
        for doc_id in question.gold_doc_ids:
            if doc_id not in pool:
                message = f"gold document {doc_id} is not in the pool"
                yield _error("gold_not_in_pool", question.question_id, message)
        for doc_id in {
            i for answer in question.answers for i in answer.evidence_doc_ids or ()
        } - pool:
            message = f"evidence {doc_id} is not in the pool"
            yield _error("evidence_not_in_pool", question.question_id, message)
    for document in b.documents:
        if document.is_gold != (document.doc_id in referenced):
            message = "is_gold is set, but no question names the document"
            if not document.is_gold:
                message = "a question names the document, but is_gold is not set"
            yield _error("is_gold", document.doc_id, message)


def _consistent(question: Question) -> Iterator[Finding]:
    """Find contradictions between a question's type and gold."""
    record_id, number = question.question_id, len(question.gold_doc_ids)
    unwanted = question.question_type == "no-retrieval"
    if not number and question.judged and not unwanted:
        yield _error("gold_missing", record_id, "has no gold document")
    if number and (unwanted or not question.judged):
        what = "needs no retrieval" if unwanted else "is not judged"
        yield _error("gold_unexpected", record_id, f"{what}, but has gold")


def duplicate_contents(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find documents with the same text; `bears.quality.audit` finds questions that repeat one."""
    yield from _same_text(b.documents, "")
    if b.raw_documents is not b.documents:
        yield from _same_text(b.raw_documents, "before translation, ")


def _same_text(documents: Sequence[Document], when: str) -> Iterator[Finding]:
    first: dict[str, Document] = {}
    for document in documents:
        known = first.setdefault(document.content, document)
        if known is not document:
            message = f"{when}has the same text as {known.doc_id}"
            yield _error("duplicate_content", document.doc_id, message)


def empty_texts(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find empty questions and documents, and empty answers where questions have answers."""
    for question in b.questions:
        answered = question.question_type in ("single-hop", "multi-hop")
        for name in ("question", "gold_answer") if answered else ("question",):
            if blank(getattr(question, name)):
                yield _error("empty", question.question_id, f"{name} is empty")
    for document in b.documents:
        if blank(document.content):
            yield _error("empty", document.doc_id, "content is empty")


def quotations(b: TranslatedBenchmark) -> Iterator[Finding]:
    """Find gold spans and judged passages whose words are not in their document any more."""
    for question in b.questions:
        for span in question.gold_spans:
            if span.lost:
                yield _lost(question.question_id, span.doc_id, span.quotation)
    passages = [each for each in b.judgements if each.quotation]
    contents = {document.doc_id: document.content for document in b.documents} if passages else {}
    for each in passages:
        if QuotedText(contents.get(each.doc_id, "")).find(each.quotation) is None:
            yield _lost(each.question_id, each.doc_id, each.quotation)


def _lost(question_id: str, doc_id: str, quotation: str) -> Finding:
    lacking = f"{doc_id} does not have" if doc_id else "no document has"
    message = (
        f"{lacking} {one_line(quotation)!r:.120}; correct the quotation or the path, or accept "
        "that it does not count"
    )
    return _error("lost_quotation", question_id, message)
