"""What the rows of the shapes say, as the two kinds of record that leave ``download``."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from bears.identity import document_id, unused_name
from bears.types import (
    Answer,
    Brought,
    Document,
    Passage,
    Question,
    QuestionType,
    SourceQuestion,
    Turn,
)


@dataclass(frozen=True, slots=True)
class ParagraphQuestion:
    """A question of an article's paragraph, as its source has it."""

    id: str
    question: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SourceParagraph:
    """A paragraph and the questions asked of it. ``id`` is unique within its source."""

    id: str
    text: str
    questions: tuple[ParagraphQuestion, ...]


@dataclass(frozen=True, slots=True)
class Article:
    """A row of a reading comprehension source (DRCD, SQuAD)."""

    id: str
    title: str
    paragraphs: tuple[SourceParagraph, ...]


@dataclass(frozen=True, slots=True)
class PassageRow:
    """A row that brings its own paragraphs (HotpotQA, 2WikiMultiHopQA, MS MARCO).

    ``aliases`` are other ways to say ``answer``.
    """

    id: str
    question: str
    answer: str
    question_type: QuestionType
    kind: str
    passages: tuple[Passage, ...]
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PoolDocument:
    """A document of a source that is a benchmark already."""

    id: str
    text: str
    group: str = ""


@dataclass(frozen=True, slots=True)
class PoolQuestion:
    """A question of a source that is a benchmark already.

    Args:
        gold: (id of a document, grade) for each that is known to be relevant.
        judged: False where the source does not tell the gold; a question without any gold that
            is judged wants nothing retrieved.
        lacks: as of `bears.types.SourceQuestion`.
    """

    id: str
    question: str
    answer: str = ""
    gold: tuple[tuple[str, int], ...] = ()
    judged: bool = True
    turns: tuple[Turn, ...] = ()
    answers: tuple[Answer, ...] = ()
    group: str = ""
    lacks: Literal["", "judgement", "relevant"] = ""


SourceRow = Article | PassageRow | PoolDocument | PoolQuestion | Document | Question
Record = Document | SourceQuestion


def records(rows: Iterable[SourceRow], source: str) -> Iterator[Record]:
    """Yield the documents and questions of the rows of a source.

    Args:
        rows: in the order of the source.
        source: what documents and questions say that they are from.
    """
    place = 0
    for number, row in enumerate(rows, start=1):
        for record in _records(row, source, number, place):
            place += isinstance(record, Document)
            yield record


def _records(row: SourceRow, source: str, number: int, place: int) -> Iterator[Record]:
    match row:
        case Document():
            yield row
        case PoolDocument():
            yield Document(row.id, row.text, source, row.id, False, row.group)
        case Question():
            yield SourceQuestion(row, number, _distinct(row.gold_answer, row.answers))
        case PoolQuestion():
            asked = _judged(row, source)
            references = _distinct(row.answer, row.answers)
            yield SourceQuestion(asked, number, references, lacks=row.lacks)
        case Article():
            yield from _of_article(row, source, number, place)
        case PassageRow():
            yield from _documents(source, row)
            passages = tuple(
                Brought(f"{row.id}_{p.key}", place + n, p.is_gold)
                for n, p in enumerate(row.passages)
            )
            asked = Question(row.id, row.question, row.answer, (), source, row.question_type)
            yield _bringing(asked, (row.answer, *row.aliases), number, passages)


def _distinct(answer: str, answers: Iterable[Answer]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([answer, *(each.text for each in answers)]))


def _judged(row: PoolQuestion, source: str) -> Question:
    grades = [grade for _, grade in row.gold]
    return Question(
        question_id=row.id,
        question=row.question,
        gold_answer=row.answer,
        gold_doc_ids=tuple(doc_id for doc_id, _ in row.gold),
        source_dataset=source,
        question_type="ad-hoc" if row.gold or not row.judged else "no-retrieval",
        gold_grades=tuple(grades) if {*grades} - {1} else (),
        judged=row.judged,
        turns=row.turns,
        answers=row.answers,
        group=row.group,
    )


def _of_article(row: Article, source: str, number: int, place: int) -> Iterator[Record]:
    for n, paragraph in enumerate(row.paragraphs):
        key = paragraph.id
        yield Document(document_id(source, key), paragraph.text, source, key, False)
        for asked in paragraph.questions:
            passages = (Brought(asked.id, place + n, any(asked.answers[:1])),)
            question = Question(asked.id, asked.question, "", (), source, "single-hop")
            yield _bringing(question, asked.answers, number, passages)


def _documents(source: str, row: PassageRow) -> Iterator[Document]:
    names: set[str] = set()
    by_text: dict[str, str] = {}
    for passage in row.passages:
        if passage.text not in by_text:
            by_text[passage.text] = unused_name(f"{row.id}_{passage.key}", names)
        name = by_text[passage.text]
        yield Document(document_id(source, name), passage.text, source, name, False)


def _bringing(
    asked: Question, answers: tuple[str, ...], row: int, passages: tuple[Brought, ...]
) -> SourceQuestion:
    answer = next((text for text in answers if text.strip()), "")
    lacks: Literal["", "judgement"] = "" if any(p.is_gold for p in passages) else "judgement"
    return SourceQuestion(replace(asked, gold_answer=answer), row, answers, passages, lacks)
