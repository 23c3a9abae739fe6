"""The entries of a ledger.

An entry replaces a question, corrects one field of one record, reviews one translation, or judges
one document for one question. Entries are a set: the order in which they were added never matters.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field

from bears.config import parse
from bears.files.intake.texts import blank
from bears.types import Closed


@dataclass(frozen=True)
class Replacement(Closed):
    """Take another question of the same source instead of this one."""

    question_id: str
    reason: str
    author: str = ""


@dataclass(frozen=True)
class Edit(Closed):
    """Correct one field of one record.

    Args:
        record_id: a question_id or doc_id.
        field: ``question``, ``gold_answer`` or ``content``.
        old: the whole present text, so that a changed upstream text is noticed.
        new: the whole new text.
    """

    record_id: str
    field: Literal["question", "gold_answer", "content"]
    old: str
    new: str
    reason: str
    author: str = ""


@dataclass(frozen=True)
class Ledger(Closed):
    """What concerns the sample; reviews of translations concern later stages."""

    replacements: tuple[Replacement, ...] = field(default=())
    edits: tuple[Edit, ...] = field(default=())

    @property
    def replaced(self) -> frozenset[str]:
        return frozenset(entry.question_id for entry in self.replacements)

    def changes(self) -> list[list[str]]:
        """What it says of the sample, in an order of its own: ids replaced, and edits."""
        edits = [[each.record_id, each.field, each.old, each.new] for each in self.edits]
        return sorted([*([replaced] for replaced in self.replaced), *edits])


@dataclass(frozen=True)
class Review(Closed):
    """A person's decision about one translation.

    Args:
        record_id, field: what it is about.
        decision: accept its flags, correct the text, or have it translated again.
        text: the corrected text.
        times: how often it was sent back; it stays when the new translation is accepted.
    """

    record_id: str
    field: Literal["question", "gold_answer", "content"]
    decision: Literal["accept", "correct", "retranslate"]
    reason: str = ""
    author: str = ""
    text: str = ""
    times: Annotated[int, Field(ge=0, strict=True)] = 0

    def __post_init__(self) -> None:
        if self.decision == "correct" and blank(self.text):
            raise ValueError(
                f"{self.field} of {self.record_id} is to be corrected, but its text is empty"
            )

    @property
    def sent_back(self) -> int:
        """How often the text is to be translated anew."""
        return self.times or int(self.decision == "retranslate")


@dataclass(frozen=True)
class PairDecision(Closed):
    """A person's decision whether a document answers a question.

    Args:
        question_id, doc_id: what it is about.
        decision: it answers as a gold document does, it goes part of the way, or it does not.
    """

    question_id: str
    doc_id: str
    decision: Literal["relevant", "partial", "not"]
    reason: str = ""
    author: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The pair that is decided on."""
        return self.question_id, self.doc_id


@dataclass(frozen=True)
class WholeLedger(Ledger):
    """All that a ledger's file holds. Two entries that say different things of one text, or of one
    pair of question and document, are refused."""

    reviews: tuple[Review, ...] = field(default=())
    judgements: tuple[PairDecision, ...] = field(default=())

    def __post_init__(self) -> None:
        entries = [
            *((f"edits of {edit.field} of {edit.record_id}", edit) for edit in self.edits),
            *((f"reviews of {one.field} of {one.record_id}", one) for one in self.reviews),
            *(
                (f"judgements of {one.doc_id} for {one.question_id}", one)
                for one in self.judgements
            ),
        ]
        decided: dict[str, object] = {}
        for about, entry in entries:
            if decided.setdefault(about, entry) != entry:
                raise ValueError(f"two {about}; keep one of them")


def reviews_of(value: Any) -> tuple[Review, ...]:
    """The reviews of a ledger, from plain values.

    Raises:
        ConfigurationError: naming what is none, or the text on which two decide otherwise.
    """
    return parse(WholeLedger, {"reviews": value}, "ledger").reviews


def judgements_of(value: Any) -> tuple[PairDecision, ...]:
    """The judgements of a ledger, from plain values, each pair once. Raises as `reviews_of`."""
    return tuple(dict.fromkeys(parse(WholeLedger, {"judgements": value}, "ledger").judgements))
