"""The entries of a ledger, and accepted findings.

An entry replaces a question, corrects one field of one record, reviews one translation, or judges
one document for one question. Entries form a set: the order in which they were added is
irrelevant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import AfterValidator, Field

from bears.files.visible import blank
from bears.types import Finding, ForbidsExtra


@dataclass(frozen=True)
class Decision(ForbidsExtra):
    """What a person decides about one thing."""

    names: ClassVar[tuple[str, ...]]
    """The fields that say what it is about, which must not be decided twice."""
    apart: ClassVar[bool] = False
    """Whether the decisions of several people are kept apart."""

    @property
    def place(self) -> tuple[str, ...]:
        """Return what it is about."""
        return tuple(getattr(self, name) for name in self.names)

    @property
    def about(self) -> set[tuple[str, ...]]:
        """Return its place, and that of what it stands for; nothing if anything may follow it."""
        return {self.place}

    @property
    def given(self) -> Mapping[str, Sequence[object]]:
        """Return each author to what they chose, and the text that goes with it."""
        return {}

    def after(self, old: Self | None) -> Self | None:  # noqa: ARG002
        """Return what the ledger keeps, after an earlier decision at the same place."""
        return self


@dataclass(frozen=True)
class Replacement(Decision):
    """Replace a question by another one of the same source."""

    names = ("question_id",)

    question_id: str
    reason: str
    author: str = ""


@dataclass(frozen=True)
class Edit(Decision):
    """Correct one field of one record.

    Args:
        record_id: a question_id or doc_id.
        field: ``question``, ``gold_answer`` or ``content``.
        old: the whole present text, so that an upstream change is noticed.
        new: the whole new text.
    """

    names = ("record_id", "field")

    record_id: str
    field: Literal["question", "gold_answer", "content"]
    old: str
    new: str
    reason: str
    author: str = ""


@dataclass(frozen=True)
class Review(Decision):
    """A person's decision about one translation.

    Args:
        record_id, field: the text that it is about.
        decision: accept the flags, correct the text, or have it translated again.
        text: the corrected text.
        times: how often the text was sent back, including earlier reviews.
    """

    names = ("record_id", "field")

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
    def given(self) -> Mapping[str, Sequence[object]]:
        return {self.author: [f"{self.decision} {self.text!r:.60}" if self.text else self.decision]}

    @property
    def about(self) -> set[tuple[str, ...]]:
        return set() if self.decision == "retranslate" else {self.place}

    @property
    def sent_back(self) -> int:
        """Return how often the text is to be translated again."""
        return self.times or int(self.decision == "retranslate")

    def after(self, old: Self | None) -> Self:
        times = (old.sent_back if old else 0) + (self.decision == "retranslate")
        return replace(self, times=times)


@dataclass(frozen=True)
class PairDecision(Decision):
    """A person's decision about whether a document answers a question.

    Args:
        question_id, doc_id: the pair that it is about.
        decision: the document answers like a gold document, answers in part, or does not answer.
        quotation: the passage of the document that it is about; empty: the whole document.
    """

    names = ("question_id", "doc_id", "quotation")

    question_id: str
    doc_id: str
    decision: Literal["relevant", "partial", "not"]
    reason: str = ""
    author: str = ""
    quotation: str = ""

    @property
    def given(self) -> Mapping[str, Sequence[object]]:
        return {self.author: [self.decision]}


@dataclass(frozen=True)
class LabelDraw(Decision):
    """An item that was drawn, so that people label it to compare two systems.

    Args:
        pair: what is compared: digests of both systems' results, and words.
        draw: its number, from 1.
        question_id: of the question.
        weight, largest: see `bears.evaluation.labeling.Draw`.
        labels: author to the labels: whether the first and whether the second system's answer is
            right, or the grade of a document.
        item: what of the question it is, such as a doc_id; empty: both answers to it.
        reasons: author to the reason given.
    """

    names = ("pair", "draw")
    apart = True

    pair: str
    draw: int
    question_id: str
    weight: float
    largest: float
    labels: dict[str, tuple[int, ...]] = field(default_factory=dict)
    item: str = ""
    reasons: dict[str, str] = field(default_factory=dict, compare=False)

    @property
    def name(self) -> tuple[str, str]:
        """Return the question and the item."""
        return self.question_id, self.item

    @property
    def given(self) -> Mapping[str, Sequence[object]]:
        return self.labels

    def after(self, old: Self | None) -> Self:
        kept = old or self
        reasons = {**kept.reasons, **self.reasons}
        return replace(self, labels={**kept.labels, **self.labels}, reasons=reasons)


@dataclass(frozen=True)
class Nugget(Decision):
    """A fact that an answer should have.

    Args:
        nugget_id: UUIDv5 of the question's id and the text.
        text: empty if a person rejected it, which no ledger keeps.
        importance: a vital one must be in the answer; an okay one is good to have.
        model: which wrote it; empty: a person did.
        author: the person who took it in.
        written: the id of the model's nugget, if the person changed it.
        reason: of the person.
    """

    names = ("nugget_id",)

    question_id: str
    nugget_id: str
    text: str
    importance: Literal["vital", "okay"]
    model: str = field(default="", compare=False)
    author: str = ""
    written: str = field(default="", compare=False)
    reason: str = field(default="", compare=False)

    @property
    def about(self) -> set[tuple[str, ...]]:
        return {(name,) for name in (self.nugget_id, self.written) if name}

    @property
    def given(self) -> Mapping[str, Sequence[object]]:
        return {self.author: [f"{self.importance} {self.text!r:.60}" if self.text else "rejected"]}

    def after(self, old: Self | None) -> Self | None:  # noqa: ARG002
        return self if self.text else None


E = TypeVar("E", bound=Decision)


def _once(entries: tuple[E, ...]) -> tuple[E, ...]:
    """Return each entry once; refuse two different ones about the same thing."""
    decided: dict[tuple[str, ...], E] = {}
    for entry in entries:
        if decided.setdefault(entry.place, entry) != entry:
            about = " ".join(filter(None, entry.place))
            raise ValueError(f"two decisions on {about:.200}; keep one of them")
    return tuple(decided.values())


Replacements = tuple[Replacement, ...]
Edits = Annotated[tuple[Edit, ...], AfterValidator(_once)]
Reviews = Annotated[tuple[Review, ...], AfterValidator(_once)]
Judgements = Annotated[tuple[PairDecision, ...], AfterValidator(_once)]
Nuggets = Annotated[tuple[Nugget, ...], AfterValidator(_once)]
Labels = tuple[LabelDraw, ...]


@dataclass(frozen=True)
class Ledger:
    """The parts of conf/ledger/<benchmark>.yaml.

    Args:
        replacements, edits: they change the sample.
        reviews: about translations, or about questions that a model wrote.
        judgements: about documents and passages.
        labels: draws of items to label.
        nuggets: of the questions.
    """

    replacements: Replacements = ()
    edits: Edits = ()
    reviews: Reviews = ()
    judgements: Judgements = ()
    labels: Labels = ()
    nuggets: Nuggets = ()

    @property
    def replaced(self) -> frozenset[str]:
        """Return the ids of the questions that are replaced."""
        return frozenset(entry.question_id for entry in self.replacements)

    def changes(self) -> list[list[str]]:
        """Return the replaced ids and the edits, sorted."""
        edits = [[each.record_id, each.field, each.old, each.new] for each in self.edits]
        return sorted([*([replaced] for replaced in self.replaced), *edits])


@dataclass(frozen=True)
class Acceptance(ForbidsExtra):
    """Accept a finding that is true.

    Args:
        check: the check that made the finding.
        record_id: the record it is about, or ``*`` for any.
        reason: why it is accepted.
        field: accept only findings about this field; empty: about any field, or none.
    """

    check: str
    record_id: str
    reason: str
    field: str = ""


Acceptances = tuple[Acceptance, ...]


def accept(findings: Iterable[Finding], accepted: Sequence[Acceptance]) -> list[Finding]:
    """Return the findings; accepted ones get the severity ``accepted``."""
    return [_judged(finding, accepted) for finding in findings]


def _judged(finding: Finding, accepted: Sequence[Acceptance]) -> Finding:
    for entry in accepted:
        of_field = entry.field in ("", finding.field)
        of_record = entry.record_id in ("*", finding.record_id)
        if entry.check == finding.check and of_record and of_field:
            return replace(
                finding, severity="accepted", message=f"{finding.message} ({entry.reason})"
            )
    return finding
