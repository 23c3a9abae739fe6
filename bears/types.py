"""The plain types that the whole package shares. Frozen, so that they can be passed around."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field

QuestionType = Literal["single-hop", "multi-hop", "ad-hoc", "no-retrieval"]
"""Hops where the source says them; ``ad-hoc`` where it does not; ``no-retrieval`` where the right
answer of a retriever is to return nothing."""
AnswerType = Literal["extractive", "free-form", "yes-no", "unanswerable"]
Grade = Annotated[int, Field(ge=1, le=999_999_999)]
"""How relevant a document is; one that is not has none."""
Positive = Annotated[int, Field(ge=1)]
Role = Literal["gold", "hard_negative", "random_negative"]


class Closed:
    """A dataclass that refuses unknown keys when it is read from outside."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Span(Closed):
    """A part of a document that answers a question.

    Args:
        start, end: in characters of the document's text, the end exclusive. Both are 0 if the
            quotation was not found.
        quotation: the words of the span. It is found again by them if the document changes.
    """

    doc_id: str
    start: Annotated[int, Field(ge=0)]
    end: Annotated[int, Field(ge=0)]
    quotation: str

    @property
    def lost(self) -> bool:
        """Return whether the quotation was not found."""
        return self.end <= self.start


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message of a conversation; ``role`` is ``user`` or ``assistant``."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What one annotator answered, and the documents that the answer rests on; None if unknown."""

    type: AnswerType
    text: str
    evidence_doc_ids: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Generated(Closed):
    """That a model wrote a benchmark's questions, and how many of them were ``kept``."""

    model: str
    written: int
    kept: int

    def __str__(self) -> str:
        return f"generated: {self.kept} of {self.written} questions by {self.model} were kept"


@dataclass(frozen=True, slots=True)
class Question(Closed):
    """One question of a benchmark; the first six fields are those of BEARS' published files.

    Args:
        gold_doc_ids: the relevant documents; none where the right result is an empty one.
        gold_grades: their grades in the same order, from 1; empty: every grade is 1.
        judged: False if the gold is unknown, so that every measure is undefined.
        turns: the conversation before ``question``, oldest first.
        answers: every annotator's answer, where a source has several.
        group: the documents it may also be asked of alone (QASPER: those of its paper).
        generated: of a question that a model wrote; None: a person did.
        gold_spans: the parts of the relevant documents that answer it, where they are known.
    """

    question_id: str
    question: str
    gold_answer: str
    gold_doc_ids: tuple[str, ...]
    source_dataset: str
    question_type: QuestionType
    gold_grades: tuple[Grade, ...] = ()
    judged: bool = True
    turns: tuple[Turn, ...] = ()
    answers: tuple[Answer, ...] = ()
    group: str = ""
    generated: Generated | None = None
    gold_spans: tuple[Span, ...] = ()

    @property
    def gold_parts(self) -> tuple[str, ...]:
        """Return the ids of what answers it: of chunks where spans are known, else of documents."""
        found = [span for span in self.gold_spans if not span.lost]
        parts = [str(Chunk(span.doc_id, span.start, span.end)) for span in found]
        return (*parts, *(i for i in self.gold_doc_ids if i not in {s.doc_id for s in found}))

    def answered_by(self, name: str) -> bool:
        """Return whether a document is gold, or a chunk of one and has a part of its spans.

        Every chunk of a gold document without spans answers.
        """
        if name in self.gold_doc_ids:
            return True
        chunk = Chunk.named(name)
        if chunk is None or chunk.doc_id not in self.gold_doc_ids:
            return False
        spans = [s for s in self.gold_spans if s.doc_id == chunk.doc_id and not s.lost]
        return not spans or any(s.start < chunk.end and chunk.start < s.end for s in spans)

    @property
    def grades(self) -> dict[str, int]:
        """Return doc_id to grade."""
        return dict(zip(self.gold_doc_ids, self.gold_grades or repeat(1), strict=False))


@dataclass(frozen=True, slots=True)
class Asked(Closed):
    """What is searched for one question, as `rewrite` decided.

    Args:
        standalone_query: understood without the conversation before it; empty where nothing is
            searched.
        search: False where the right answer needs no document.
    """

    question_id: str
    standalone_query: str
    search: bool


@dataclass(frozen=True, slots=True)
class Document(Closed):
    """One document of the pool; the first five fields are those of BEARS' published files.

    Args:
        group: what it is a part of (QASPER: its paper), where questions may be asked of that alone.
    """

    doc_id: str
    content: str
    original_source: str
    original_id: str
    is_gold: bool
    group: str = ""


CHUNK = re.compile(r"(.+)#(\d+)-(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a document's text, in characters; the end is exclusive."""

    doc_id: str
    start: int
    end: int

    def __str__(self) -> str:
        """Return its id in an index and in a run: ``guide.md#120-840``."""
        return f"{self.doc_id}#{self.start}-{self.end}"

    @classmethod
    def named(cls, name: str) -> "Chunk | None":
        """Return the chunk with an id, or None if it is the id of a whole document."""
        found = CHUNK.fullmatch(name)
        return cls(found[1], int(found[2]), int(found[3])) if found else None


def document_of(name: str) -> str:
    """Return the id of the document that a chunk is from; a whole document is its own chunk."""
    chunk = Chunk.named(name)
    return chunk.doc_id if chunk else name


@dataclass(frozen=True, slots=True)
class Passage:
    """A paragraph that a question brings; ``key`` names it within its source."""

    key: str
    text: str
    is_gold: bool


@dataclass(frozen=True, slots=True)
class Brought:
    """A paragraph that a question brings, by its position among the documents of its source."""

    key: str
    place: int
    is_gold: bool


@dataclass(frozen=True, slots=True)
class SourceQuestion:
    """A question as it leaves ``download``.

    Args:
        question: as a benchmark has it. Its gold is what its source says; none where ``passages``
            say it.
        row: the number of its row in the source, from 1.
        references: the answers of every annotator, the one that a benchmark shows first.
        passages: the paragraphs of a source whose questions bring their own.
        lacks: what its source does not say of it, though it does of others.
    """

    question: Question
    row: int = 0
    references: tuple[str, ...] = ()
    passages: tuple[Brought, ...] = ()
    lacks: Literal["", "judgement", "relevant"] = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A line of a judgement file (qrels)."""

    question_id: str
    doc_id: str
    grade: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that verification has to say about one record (or about a whole file).

    Args:
        field: the text of the record that it is about; empty: no single one.
    """

    check: str
    severity: Literal["error", "warning", "accepted"]
    record_id: str
    message: str
    field: str = ""


class Hit(NamedTuple):
    """One line of a ranking. A tuple, since it is made hundreds of times a question."""

    doc_id: str
    score: float


Ranking = tuple[Hit, ...]
"""Unique documents, best first."""

Run = Mapping[str, Ranking]
"""question_id to its ranking."""


def in_order(names: Iterable[str]) -> Ranking:
    """Return the ranking that has the names in this order, each where it comes first."""
    return tuple(Hit(name, -float(place)) for place, name in enumerate(dict.fromkeys(names)))
