"""The plain types that the whole package shares. Frozen, so that they can be passed around."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import BeforeValidator, Field, PlainSerializer

AnswerType = Literal["extractive", "free-form", "yes-no", "unanswerable"]
QuestionType = Literal["single-hop", "multi-hop", "ad-hoc", "no-retrieval", AnswerType]
"""Hops, or the type of the annotators' answers, where the source says them; else ``ad-hoc``.
``no-retrieval`` where the right answer of a retriever is to return nothing."""
Grade = Annotated[int, Field(ge=1, le=999_999_999)]
"""How relevant a document is; one that is not has none."""
NotRelevant = Annotated[int, Field(ge=-999_999_999, le=0)]
"""The grade of a document that was judged and is not relevant."""
Positive = Annotated[int, Field(ge=1)]


class ForbidsExtra:
    """A dataclass that refuses unknown keys when it is read from outside."""

    __slots__ = ()
    __pydantic_config__: ClassVar[dict[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """A range of a document's text, in characters.

    Args:
        end: exclusive; None: the end of the text, so that a chunk may be a document of any length.
    """

    doc_id: str
    start: int = 0
    end: int | None = None

    @property
    def name(self) -> str:
        """Return its name for people and within an index; that of a whole document is its id."""
        return self.doc_id if self.end is None else f"{self.doc_id}#{self.start}-{self.end}"

    def of(self, text: str) -> str:
        """Return its part of the document's text."""
        return text[self.start : self.end]

    def meets(self, start: int, end: int) -> bool:
        """Return whether it has a character of a range."""
        return self.start < end and (self.end is None or start < self.end)


def in_file(chunk: Chunk) -> str | dict[str, str | int]:
    """Return a chunk as it is in a file: a whole document as its id."""
    if chunk.end is None:
        return chunk.doc_id
    return {"doc_id": chunk.doc_id, "start": chunk.start, "end": chunk.end}


def _chunk(value: object) -> object:
    return {"doc_id": value} if isinstance(value, str) else value


FiledChunk = Annotated[Chunk, BeforeValidator(_chunk), PlainSerializer(in_file)]
"""A chunk that is read from a file, or written into one."""


@dataclass(frozen=True, slots=True)
class Span(ForbidsExtra):
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
class Generated(ForbidsExtra):
    """That a model wrote a benchmark's questions, and how many of them were ``kept``."""

    model: str
    written: int
    kept: int

    def __str__(self) -> str:
        return f"generated: {self.kept} of {self.written} questions by {self.model} were kept"


@dataclass(frozen=True, slots=True)
class Question(ForbidsExtra):
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
        not_relevant: the documents that were judged and are not relevant, with their grades.
        weight: how many of the questions that were drawn from users' it stands for.
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
    not_relevant: tuple[tuple[str, NotRelevant], ...] = ()
    weight: Positive = 1

    @property
    def asked(self) -> str:
        """Return the whole conversation with the question at its end, a line for each turn."""
        return "\n".join([*(f"{t.role}: {t.content}" for t in self.turns), self.question])

    @property
    def turn(self) -> str:
        """Return its place among the questions of its conversation, such as ``turn 2``."""
        return f"turn {1 + sum(turn.role == 'user' for turn in self.turns)}"

    @property
    def gold_parts(self) -> tuple[Chunk, ...]:
        """Return what answers it: chunks where spans are known, else whole documents."""
        found = [span for span in self.gold_spans if not span.lost]
        parts = [Chunk(span.doc_id, span.start, span.end) for span in found]
        whole = [i for i in self.gold_doc_ids if i not in {span.doc_id for span in found}]
        return (*parts, *map(Chunk, whole))

    def answered_by(self, chunk: Chunk) -> bool:
        """Return whether a chunk is of a gold document and has a part of its spans.

        Every chunk of a gold document without spans answers.
        """
        if chunk.doc_id not in self.gold_doc_ids:
            return False
        spans = [s for s in self.gold_spans if s.doc_id == chunk.doc_id and not s.lost]
        return not spans or any(chunk.meets(span.start, span.end) for span in spans)

    @property
    def grades(self) -> dict[str, int]:
        """Return doc_id to grade of the relevant documents."""
        return dict(zip(self.gold_doc_ids, self.gold_grades or repeat(1), strict=False))

    @property
    def judgements(self) -> dict[str, int]:
        """Return doc_id to grade of every judged document."""
        return {**dict(self.not_relevant), **self.grades}


@dataclass(frozen=True, slots=True)
class RewrittenQuestion(ForbidsExtra):
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
class Document(ForbidsExtra):
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


@dataclass(frozen=True, slots=True)
class IndexedChunk(Document):
    """A chunk as a retriever indexes it: a document whose id is the name of the chunk."""

    chunk: Chunk = Chunk("")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph that a question brings; ``key`` names it within its source."""

    key: str
    text: str
    is_gold: bool


@dataclass(frozen=True, slots=True)
class ParagraphPlace:
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
    passages: tuple[ParagraphPlace, ...] = ()
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


class ChunkHit(NamedTuple):
    """One place of a ranking of chunks."""

    chunk: FiledChunk
    score: float

    @property
    def doc_id(self) -> str:
        """Return the document that the chunk is from."""
        return self.chunk.doc_id


ChunkRanking = tuple[ChunkHit, ...]
"""Unique chunks, best first."""

Run = Mapping[str, Ranking]
"""question_id to its ranking."""

ChunkRun = Mapping[str, ChunkRanking]
"""question_id to its ranking of chunks."""


def in_order(names: Iterable[str]) -> Ranking:
    """Return the ranking that has the names in this order, each where it comes first."""
    return tuple(Hit(name, float(-place)) for place, name in enumerate(dict.fromkeys(names)))


def whole_documents(run: Run) -> ChunkRun:
    """Return rankings of documents as rankings of chunks, each of which is a whole document."""
    return {
        question_id: tuple(ChunkHit(Chunk(doc_id), score) for doc_id, score in ranking)
        for question_id, ranking in run.items()
    }


def in_chunk_order(hits: Iterable[ChunkHit]) -> ChunkRanking:
    """Return the ranking of hits: score descending, then name descending, as for documents."""
    return tuple(sorted(hits, key=lambda hit: (hit.score, hit.chunk.name), reverse=True))


def chunks_in_order(chunks: Iterable[Chunk]) -> ChunkRanking:
    """Return the ranking that has the chunks in this order, each where it comes first."""
    return tuple(ChunkHit(each, float(-place)) for place, each in enumerate(dict.fromkeys(chunks)))
