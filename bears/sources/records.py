"""Build the two kinds of record that leave ``download``: documents and questions."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from bears.identity import document_id, unused_name
from bears.types import (
    Answer,
    Document,
    Paragraph,
    ParagraphPlace,
    Question,
    QuestionType,
    SourceQuestion,
    Turn,
)

Record = Document | SourceQuestion
RowRecords = Sequence[Record]
"""The records of one row. Its questions give the places of their passages within the row."""


def numbered_records(rows: Iterable[RowRecords]) -> Iterator[Record]:
    """Yield the records of all rows, with the places of passages counted over the whole source."""
    before = 0
    for number, row in enumerate(rows, start=1):
        for record in row:
            if isinstance(record, SourceQuestion):
                passages = tuple(replace(p, place=before + p.place) for p in record.passages)
                yield replace(record, row=number, passages=passages)
            else:
                yield record
        before += sum(isinstance(record, Document) for record in row)


def pool_document(source: str, doc_id: str, text: str, group: str = "") -> Document:
    """Return a document of a source that is a benchmark already, which keeps its id."""
    return Document(doc_id, text, source, doc_id, False, group)


def pool_question(
    source: str,
    question_id: str,
    question: str,
    answer: str = "",
    gold: Mapping[str, int] | None = None,
    judged: bool = True,
    turns: tuple[Turn, ...] = (),
    answers: tuple[Answer, ...] = (),
    group: str = "",
    lacks: Literal["", "judgement", "relevant"] = "",
) -> SourceQuestion:
    """Return a question of a source that is a benchmark already.

    Args:
        gold: id to grade of every document that is known to be relevant.
        judged: False where the source does not give the gold. A question that is judged and has
            no gold has no right document.
        lacks: see `bears.types.SourceQuestion`.
    """
    grades = tuple((gold or {}).values())
    made = Question(
        question_id=question_id,
        question=question,
        gold_answer=answer,
        gold_doc_ids=tuple(gold or ()),
        source_dataset=source,
        question_type="ad-hoc" if gold or not judged else "no-retrieval",
        gold_grades=grades if {*grades} - {1} else (),
        judged=judged,
        turns=turns,
        answers=answers,
        group=group,
    )
    return own_question(made, lacks)


def own_question(
    question: Question, lacks: Literal["", "judgement", "relevant"] = ""
) -> SourceQuestion:
    """Return a question as it leaves ``download``, with each distinct answer."""
    answers = dict.fromkeys([question.gold_answer, *(each.text for each in question.answers)])
    return SourceQuestion(question, references=tuple(answers), lacks=lacks)


def passage_document(source: str, name: str, text: str) -> Document:
    """Return the document of a paragraph that is called ``name`` within its source."""
    return Document(document_id(source, name), text, source, name, False)


def passage_question(
    source: str,
    question_id: str,
    question: str,
    answers: tuple[str, ...],
    kind: QuestionType,
    passages: tuple[ParagraphPlace, ...],
) -> SourceQuestion:
    """Return a question that brings its own passages, with its first answer that is not blank."""
    answer = next((text for text in answers if text.strip()), "")
    lacks: Literal["", "judgement"] = "" if any(p.is_gold for p in passages) else "judgement"
    made = Question(question_id, question, answer, (), source, kind)
    return SourceQuestion(made, references=answers, passages=passages, lacks=lacks)


def passage_row(
    source: str,
    question_id: str,
    question: str,
    answers: tuple[str, ...],
    kind: QuestionType,
    passages: Sequence[Paragraph],
) -> RowRecords:
    """Return a document for each passage of a question, and then the question.

    A passage is called by the question's id and its own key. The same text has one name.
    """
    taken: set[str] = set()
    names: dict[str, str] = {}
    for passage in passages:
        if passage.text not in names:
            names[passage.text] = unused_name(f"{question_id}_{passage.key}", taken)
    brought = tuple(
        ParagraphPlace(f"{question_id}_{passage.key}", n, passage.is_gold)
        for n, passage in enumerate(passages)
    )
    return [
        *(passage_document(source, names[p.text], p.text) for p in passages),
        passage_question(source, question_id, question, answers, kind, brought),
    ]
