"""What verification looks at: a benchmark before and after translation, and what it should be."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from bears.gates import GateSeverity, Severity
from bears.language.profile import Language
from bears.types import Document, Question


@dataclass(frozen=True)
class Benchmark:
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
        gates: gate to severity, see `bears.gates`.
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
