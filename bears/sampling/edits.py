"""Apply the ledger's corrections of single fields."""

import dataclasses
from collections.abc import Iterable, Sequence

from bears.config.ledger.entries import Edit
from bears.errors import LedgerError
from bears.types import Document, Question


def apply_edits(
    questions: Sequence[Question], documents: Sequence[Document], edits: Iterable[Edit]
) -> tuple[list[Question], list[Document], list[Edit]]:
    """Apply corrections, at most one for each field of a record.

    Returns:
        The questions, the documents, and the edits whose record is not in this sample.

    Raises:
        LedgerError: a record's text differs from ``old``.
    """
    by_place: dict[tuple[str, str], Edit] = {(e.record_id, e.field): e for e in edits}
    edited_questions = [
        dataclasses.replace(
            q,
            question=_edited(by_place, q.question_id, "question", q.question),
            gold_answer=_edited(by_place, q.question_id, "gold_answer", q.gold_answer),
        )
        for q in questions
    ]
    edited_documents = [
        dataclasses.replace(d, content=_edited(by_place, d.doc_id, "content", d.content))
        for d in documents
    ]
    return edited_questions, edited_documents, list(by_place.values())


def _edited(by_place: dict[tuple[str, str], Edit], record: str, name: str, text: str) -> str:
    edit = by_place.pop((record, name), None)
    if edit is None:
        return text
    if edit.old != text:
        raise LedgerError(
            f"ledger: {name} of {record} is {text!r:.80}, but the edit expects {edit.old!r:.80}; "
            "look at the record again, then change or remove the entry"
        )
    return edit.new
