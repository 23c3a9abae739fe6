"""Gold and people's decisions in terms of chunks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from bears.config.ledger.entries import PairDecision
from bears.language.quotations import QuotedText
from bears.types import Chunk, Document, Question, Span


class ChunksOfDocuments:
    """Finds the chunks that a person or a question means.

    Args:
        documents: whole.
        chunks: of these documents.
    """

    def __init__(self, documents: Iterable[Document], chunks: Iterable[Chunk]) -> None:
        self._whole = {document.doc_id: document.content for document in documents}
        self._parts: dict[str, list[Chunk]] = {}
        for chunk in chunks:
            if chunk.end is not None:
                self._parts.setdefault(chunk.doc_id, []).append(chunk)

    def questions(self, questions: Iterable[Question]) -> list[Question]:
        """Return the questions with names of chunks as gold: those of its spans, else all."""
        return [self._question(question) for question in questions] if self._parts else [*questions]

    def decisions(self, judgements: Sequence[PairDecision]) -> list[PairDecision]:
        """Return the decisions, each about the name of every chunk with a part of what was judged.

        One about a document that was not cut stays as it is, and so does one that is lost.
        """
        found: list[PairDecision] = []
        for each in judgements:
            span = self.span(each)
            named = self._named(each.doc_id, (span,) if span else ())
            lost = each.quotation and span is None
            found += [replace(each, doc_id=name, quotation="") for name in named if not lost]
            found += [each] if lost else []
        return found

    def span(self, decision: PairDecision) -> Span | None:
        """Return the span of a judged passage in its document as it is now, or None."""
        text = self._whole.get(decision.doc_id, "")
        if not decision.quotation or not (match := QuotedText(text).find(decision.quotation)):
            return None
        return Span(decision.doc_id, match.start, match.end, decision.quotation)

    def _question(self, question: Question) -> Question:
        grades: Mapping[str, int] = {
            name: grade
            for doc_id, grade in question.grades.items()
            for name in self._named(doc_id, question.gold_spans)
        }
        graded = tuple(grades.values()) if question.gold_grades else ()
        return replace(question, gold_doc_ids=tuple(grades), gold_grades=graded)

    def _named(self, doc_id: str, spans: Iterable[Span]) -> list[str]:
        parts = self._parts.get(doc_id)
        if parts is None:
            return [doc_id]
        ranges = [(s.start, s.end) for s in spans if s.doc_id == doc_id and not s.lost]
        held = [part for part in parts if any(part.meets(*each) for each in ranges)]
        return [part.name for part in held or parts]
