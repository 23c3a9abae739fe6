"""The ledger: what a person decided about single records, applied as a pure function.

An entry either replaces a question or corrects one field of one record. Entries are a set: the
order in which they were added never matters.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.errors import LedgerError
from bears.types import Document, Question

EDITABLE = ("question", "gold_answer", "content")


@dataclass(frozen=True)
class Replacement:
    """Take another question of the same source instead of this one."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    question_id: str
    reason: str
    author: str = ""


@dataclass(frozen=True)
class Edit:
    """Correct one field of one record.

    Args:
        record_id: a question_id or doc_id.
        field: ``question``, ``gold_answer`` or ``content``.
        old: the whole present text, so that a changed upstream text is noticed.
        new: the whole new text.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    record_id: str
    field: str
    old: str
    new: str
    reason: str
    author: str = ""

    def __post_init__(self) -> None:
        if self.field not in EDITABLE:
            raise LedgerError(
                f"ledger: {self.record_id}: field is {self.field!r}; "
                f"expected one of {', '.join(EDITABLE)}"
            )


@dataclass(frozen=True)
class Ledger:
    """All entries of one benchmark."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    replacements: tuple[Replacement, ...] = field(default=())
    edits: tuple[Edit, ...] = field(default=())

    @property
    def replaced(self) -> frozenset[str]:
        return frozenset(entry.question_id for entry in self.replacements)


def sampling_part(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The entries that concern sampling; reviews of translations concern later stages."""
    return {name: ledger[name] for name in ("replacements", "edits")}


def apply_edits(
    questions: Sequence[Question], documents: Sequence[Document], edits: Iterable[Edit]
) -> tuple[list[Question], list[Document], list[Edit]]:
    """Apply corrections.

    Returns:
        The questions, the documents, and the edits whose record is not in this sample.

    Raises:
        LedgerError: a record's text is not the ``old`` one, or two edits name one field.
    """
    by_place: dict[tuple[str, str], Edit] = {}
    for edit in edits:
        if by_place.setdefault((edit.record_id, edit.field), edit) != edit:
            raise LedgerError(
                f"ledger: two edits of {edit.field} of {edit.record_id}; keep one of them"
            )
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
