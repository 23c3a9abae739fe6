"""A benchmark before and after translation, and what the configuration expects of it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bears.config.ledger.entries import PairDecision
from bears.language.gates import GateSeverity, Severity
from bears.language.profile import Language
from bears.types import Document, Question


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
        unmatched: ledger entries that match no record.
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
    unmatched: Sequence[str] = ()
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
