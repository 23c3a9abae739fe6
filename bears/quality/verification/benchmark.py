"""What verification looks at: a benchmark before and after translation, and what it should be."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bears.language.gates import GateSeverity, Severity
from bears.language.profile import Language
from bears.types import Document, Question


@dataclass(frozen=True)
class TranslatedBenchmark:
    """Everything that the checks compare.

    Args:
        raw_questions, raw_documents: before translation.
        questions, documents: after it.
        shares: source name to the asked number of questions, in the asked order; None where a
            benchmark is taken as it is.
        size: the asked number of documents, or None likewise.
        languages: source name to BCP 47 tag.
        target: the language that texts are translated into.
        written_in: the tag that the finished texts are indexed under; empty: not known.
        unmatched: ledger entries that name no record.
        gates: gate to severity, see `bears.language.gates`.
        bundle_gates: the same for answer_lost and term_consistency.
        terms: question_id to the (source, rendering) pairs that its texts were to use.
        doubts: what the translation itself says of its texts: record_id, field, kind, message.
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

    def questions_beside(self) -> Iterator[tuple[Question, Question]]:
        """Each question of both sides, as (before, after)."""
        before = {question.question_id: question for question in self.raw_questions}
        return ((before[q.question_id], q) for q in self.questions if q.question_id in before)

    def documents_beside(self) -> Iterator[tuple[Document, Document]]:
        """Each document of both sides, as (before, after)."""
        before = {document.doc_id: document for document in self.raw_documents}
        return ((before[d.doc_id], d) for d in self.documents if d.doc_id in before)
