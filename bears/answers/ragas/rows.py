"""The rows to score: questions with right answers, a system's answers, and its contexts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from bears.answers.task import AnswerTask
from bears.errors import FormatError
from bears.files.intake.files import json_value
from bears.files.records import adapter_of
from bears.files.spreadsheet import read_named
from bears.files.traces import read_traces
from bears.files.visible import blank

COLUMNS = ("question", "ground_truth", "answer", "contexts")


@dataclass(frozen=True, slots=True)
class RagasRow:
    """One question.

    Args:
        ground_truth: the right answer.
        answer: the system's answer; empty if it gave none.
        contexts: texts that the system saw, best first.
    """

    question: str
    ground_truth: str
    answer: str
    contexts: tuple[str, ...]


def read_rows(path: Path) -> list[RagasRow]:
    """Read a CSV file of `COLUMNS`, in which ``contexts`` is a JSON list of texts.

    Raises:
        FormatError: the file is not CSV, or a row lacks a column, has no question, or its contexts
            are not a list of texts.
    """
    header, cells = read_named(path)
    if missing := [name for name in COLUMNS if name not in header]:
        raise FormatError(
            f"{path}: lacks the column {', '.join(missing)}; expected {', '.join(COLUMNS)}"
        )
    rows = [_row(row, f"{path}, line {line}") for line, row in cells]
    if not rows:
        raise FormatError(f"{path}: no rows below the header")
    return rows


def answered_rows(task: AnswerTask, answers: Path) -> list[RagasRow]:
    """Return a generator's answers with the texts that it saw.

    Args:
        task: the generator's.
        answers: the file of its answers, one line for each question of ``task``; of repeats, the
            first is scored.
    """
    return [
        RagasRow(
            question.question,
            question.gold_answer,
            trace.answer or "",
            task.shown[question.question_id].texts,
        )
        for question, trace in zip(task.questions, read_traces(answers), strict=False)
    ]


def _row(cells: Mapping[str, str], where: str) -> RagasRow:
    if blank(cells["question"]):
        raise FormatError(f"{where}: the question is empty; fill it in, or remove the row")
    contexts = cells["contexts"]
    return RagasRow(
        cells["question"],
        cells["ground_truth"],
        "" if blank(cells["answer"]) else cells["answer"],
        () if blank(contexts) else _texts(contexts, where),
    )


def _texts(cell: str, where: str) -> tuple[str, ...]:
    try:
        value = json_value(cell.encode(), "contexts")
        return tuple(adapter_of(list[str]).validate_python(value, strict=True))
    except (FormatError, ValidationError):
        raise FormatError(
            f"{where}: contexts is {cell!r:.60}; expected a JSON list of texts, as Python's "
            'json.dumps writes it: ["…", "…"]'
        ) from None
