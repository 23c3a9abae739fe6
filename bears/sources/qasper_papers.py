"""The papers of QASPER in one shape, whichever of its two forms a file has."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow, SourceError
from bears.sources.parts import Parts, numbered
from bears.sources.rows import Ids, Row, Rows, check_row, read_whole
from bears.types import AnswerType

FIELDS = {"id", "title", "abstract", "full_text", "qas", "figures_and_tables"}


class QasperAnswer(TypedDict):
    unanswerable: bool
    extractive_spans: list[str]
    yes_no: bool | None
    free_form_answer: str
    evidence: list[str]


class Annotation(TypedDict):
    answer: QasperAnswer


class AskedQuestion(TypedDict):
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
    qas: Rows[AskedQuestion]
    figures_and_tables: NotRequired[Rows[_Figure] | None]


_SHAPE = TypeAdapter(Paper)


def papers(parts: Parts) -> Iterator[Paper]:
    """Yield the papers of the part ``papers``, one at a time.

    Raises:
        SourceError: a file is damaged.
        MalformedRow: a field does not fit, an answer is none of the four types, a paper or a
            question stands twice.
    """
    known = Ids()

    def made(file: str, number: int, row: Row) -> Paper:
        paper: Paper = check_row(_SHAPE, row, file, number)
        known.new(paper["id"], file, number, "id")
        for asked in paper["qas"]:
            known.new(asked["question_id"], file, number, "qas.question_id")
            for each in asked["answers"]:
                if not type_and_text(each["answer"])[1]:
                    problem = f"question {asked['question_id']} has an empty answer"
                    raise MalformedRow(file, number, "qas.answers", problem)
        return paper

    return parts.each(made, "papers", _rows)


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Of one object of papers by their ids, as of the hub's rows."""
    papers = {} if path.suffix == ".parquet" else _whole(path)
    if not isinstance(papers, dict) or not papers or papers.keys() & FIELDS:
        yield from numbered(path)
        return
    for number, (key, value) in enumerate(papers.items(), start=1):
        if not isinstance(value, dict):
            raise MalformedRow(path.name, number, key, f"not a paper but {value!r:.40}")
        yield number, {**value, "id": key}


def _whole(path: Path) -> Any:
    try:
        return read_whole(path)
    except SourceError:
        # JSON Lines, perhaps; if not, `read_rows` says what is wrong.
        return None


def type_and_text(answer: QasperAnswer) -> tuple[AnswerType, str]:
    """By the official evaluation's order: unanswerable, extractive, free form, yes or no.

    The text is empty where the answer is none of these.
    """
    if answer["unanswerable"]:
        return "unanswerable", "Unanswerable"
    if answer["extractive_spans"]:
        return "extractive", ", ".join(answer["extractive_spans"])
    if answer["free_form_answer"]:
        return "free-form", answer["free_form_answer"]
    return "yes-no", {True: "Yes", False: "No", None: ""}[answer["yes_no"]]
