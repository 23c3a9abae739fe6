"""A benchmark that was sampled, and the lineage of its records."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic

from typing_extensions import TypeVar

from bears.types import Document, Question

D = TypeVar("D", bound=Iterable[Document], default=list[Document])


@dataclass(frozen=True)
class Sample(Generic[D]):
    """A benchmark before translation.

    Args:
        questions: in their order.
        documents: the pool, in its final order; it may be larger than memory.
        lineage: a row for each record with its origin.
        notes: what notes.json has: ``passed_over`` counts the questions that were visited and
            skipped, by source and reason; ``unmatched_ledger_entries`` are of no record here.
    """

    questions: list[Question]
    documents: D
    lineage: Iterable[dict[str, Any]]
    notes: dict[str, Any]


def references_of(answers: Sequence[str]) -> list[str]:
    """Return the distinct answers of annotators, or nothing where there is one at most."""
    distinct = [*dict.fromkeys(answer for answer in answers if answer.strip())]
    return distinct if len(distinct) > 1 else []


def document_line(document: Document, role: str, questions: Sequence[str]) -> dict[str, Any]:
    """Return the line of a document, with its role and the questions that it answers."""
    return {
        "record_id": document.doc_id,
        "kind": "document",
        "source": document.original_source,
        "original_id": document.original_id,
        "role": role,
        "questions": questions,
    }


def document_lines(
    documents: Iterable[Document], questions: Iterable[Question], licence: str
) -> Iterator[dict[str, Any]]:
    """Yield the lines of documents whose role is ``gold`` for some of the questions or ``pool``."""
    users: dict[str, list[str]] = {}
    for question in questions:
        for doc_id in question.gold_doc_ids:
            users.setdefault(doc_id, []).append(question.question_id)
    for document in documents:
        role = "gold" if document.is_gold else "pool"
        line = document_line(document, role, users.get(document.doc_id, []))
        yield {**line, "licence": licence}
