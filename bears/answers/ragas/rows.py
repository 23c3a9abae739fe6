"""The rows to score: questions with right answers, a system's answers, and its contexts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from bears.answers.task import AnswerTask
from bears.errors import FormatError
from bears.files.records import json_as
from bears.files.spreadsheet import read_named
from bears.files.traces import read_traces
from bears.files.visible import blank

GIVEN, FILLED = ("question", "ground_truth"), ("answer", "contexts")
COLUMNS = (*GIVEN, *FILLED)


@dataclass(frozen=True, slots=True)
class RagasRow:
    """One question.

    Args:
        ground_truth: the right answer.
        answer: the system's answer; empty if it gave none.
        contexts: texts that the system saw, best first.
        lacks: those of `FILLED` that are still to be filled.
    """

    question: str
    ground_truth: str
    answer: str
    contexts: tuple[str, ...]
    lacks: tuple[str, ...] = ()

    def filled(self, answer: str, contexts: tuple[str, ...]) -> "RagasRow":
        """Return it with what it lacks."""
        answer = answer if "answer" in self.lacks else self.answer
        contexts = contexts if "contexts" in self.lacks else self.contexts
        return replace(self, answer=answer, contexts=contexts, lacks=())

    @property
    def cells(self) -> tuple[str, ...]:
        """Return its cells, in the order of `COLUMNS`."""
        contexts = json.dumps(self.contexts, ensure_ascii=False)
        return self.question, self.ground_truth, self.answer, contexts


def read_rows(path: Path, gaps: bool = False) -> list[RagasRow]:
    """Read a CSV file of `COLUMNS`, in which ``contexts`` is a JSON list of texts.

    Args:
        path: the file.
        gaps: whether cells and columns of `FILLED` may be missing; a blank cell then is. Without
            it, a blank cell says that the system gave no answer or saw nothing.

    Raises:
        FormatError: the file is not CSV, or a row lacks a column, has no question, or its contexts
            are not a list of texts.
    """
    header, cells = read_named(path)
    if missing := [name for name in (GIVEN if gaps else COLUMNS) if name not in header]:
        filled = "" if {*GIVEN} & {*missing} else ", or a generator that fills it: generator=NAME"
        raise FormatError(
            f"{path}: lacks the column {', '.join(missing)}; expected {', '.join(COLUMNS)}{filled}"
        )
    rows = [_row(row, gaps, f"{path}, line {line}") for line, row in cells]
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


def _row(cells: Mapping[str, str], gaps: bool, where: str) -> RagasRow:
    if blank(cells["question"]):
        raise FormatError(f"{where}: the question is empty; fill it in, or remove the row")
    answer, contexts = (cells.get(name, "") for name in FILLED)
    return RagasRow(
        cells["question"],
        cells["ground_truth"],
        "" if blank(answer) else answer,
        () if blank(contexts) else _texts(contexts, where),
        tuple(name for name in FILLED if gaps and blank(cells.get(name, ""))),
    )


def _texts(cell: str, where: str) -> tuple[str, ...]:
    try:
        return tuple(json_as(list[str], cell, "contexts"))
    except FormatError:
        raise FormatError(
            f"{where}: contexts is {cell!r:.60}; expected a JSON list of texts, as Python's "
            'json.dumps writes it: ["…", "…"]'
        ) from None
