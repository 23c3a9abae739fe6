"""Read the papers of QASPER from either of its two forms."""

from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.parts import Parts, numbered
from bears.sources.rows import BadField, Ids, Row, Rows, check_row, read_whole
from bears.types import AnswerType


class QasperAnswer(TypedDict):
    unanswerable: bool
    extractive_spans: list[str]
    yes_no: bool | None
    free_form_answer: str
    evidence: list[str]


class Annotation(TypedDict):
    answer: QasperAnswer


class PaperQuestion(TypedDict):
    question: str
    question_id: str
    answers: Rows[Annotation]


class _Section(TypedDict):
    paragraphs: list[str]


class _Figure(TypedDict):
    caption: str


class Paper(TypedDict):
    id: str
    abstract: str
    full_text: Rows[_Section]
    qas: Rows[PaperQuestion]
    figures_and_tables: NotRequired[Rows[_Figure] | None]


_SHAPE = TypeAdapter(Paper)


def papers(parts: Parts) -> Iterator[Paper]:
    """Yield the papers of the part ``papers``, one at a time.

    Raises:
        SourceError: a file is damaged.
        MalformedRow: a field does not fit, an answer has none of the four types, or a paper or a
            question is there twice.
    """
    known = Ids()

    def checked(row: Row) -> Paper:
        paper: Paper = check_row(_SHAPE, row)
        known.new(paper["id"], "id")
        for question in paper["qas"]:
            known.new(question["question_id"], "qas.question_id")
            for each in question["answers"]:
                if not type_and_text(each["answer"])[1]:
                    problem = f"question {question['question_id']} has an empty answer"
                    raise BadField("qas.answers", problem)
        return paper

    return parts.each(checked, "papers", _rows)


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the papers of one object of papers by their ids, or the hub's rows."""
    papers = read_whole(path) if path.suffix == ".json" else None
    if not isinstance(papers, dict):
        yield from enumerate(papers, start=1) if isinstance(papers, list) else numbered(path)
        return
    for number, (key, value) in enumerate(papers.items(), start=1):
        yield number, {**value, "id": key} if isinstance(value, dict) else value


def type_and_text(answer: QasperAnswer) -> tuple[AnswerType, str]:
    """Return the type and text of an answer, by the order of the official evaluation.

    That order is: unanswerable, extractive, free form, yes or no. The text is empty if the answer
    has none of these.
    """
    if answer["unanswerable"]:
        return "unanswerable", "Unanswerable"
    if answer["extractive_spans"]:
        return "extractive", ", ".join(answer["extractive_spans"])
    if answer["free_form_answer"]:
        return "free-form", answer["free_form_answer"]
    return "yes-no", {True: "Yes", False: "No", None: ""}[answer["yes_no"]]
