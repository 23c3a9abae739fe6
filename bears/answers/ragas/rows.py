"""What is scored: questions with right answers, a system's answers, and what it was shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.texts import blank
from bears.files.spreadsheet import read_named

NEEDED = ("question", "ground_truth")
COLUMNS = (*NEEDED, "answer", "contexts")


@dataclass(frozen=True, slots=True)
class RagasRow:
    """One question.

    Args:
        ground_truth: the right answer.
        answer: a system's; None where the file has none.
        contexts: texts that the system was shown, best first; None where the file has none.
    """

    question: str
    ground_truth: str
    answer: str | None
    contexts: tuple[str, ...] | None


def read_rows(path: Path) -> tuple[list[RagasRow], list[str]]:
    """Read a CSV file of ``question, ground_truth`` and, if it has them, ``answer, contexts``.

    ``contexts`` is a JSON list of texts. An empty cell of ``answer`` or ``contexts`` is missing; an
    empty list is a system's that was shown nothing.

    Returns:
        The rows, and the names of columns that nothing looks at.

    Raises:
        FormatError: naming the row: the file is not CSV, lacks a column or a question, or its
            contexts are no list of texts.
    """
    header, cells = read_named(path, short=True)
    if missing := [name for name in NEEDED if name not in header]:
        raise FormatError(
            f"{path}: lacks the column {', '.join(missing)}; expected {', '.join(NEEDED)} and, "
            "where they are known, answer and contexts (a JSON list)"
        )
    rows = [_row(row, f"{path}, line {line}") for line, row in cells]
    if not rows:
        raise FormatError(f"{path}: no rows below the header")
    return rows, [name for name in header if name not in COLUMNS]


def _row(cells: Mapping[str, str], where: str) -> RagasRow:
    if blank(cells["question"]):
        raise FormatError(f"{where}: the question is empty; fill it in, or remove the row")
    answer, contexts = cells.get("answer", ""), cells.get("contexts", "")
    return RagasRow(
        cells["question"],
        cells["ground_truth"],
        None if blank(answer) else answer,
        None if blank(contexts) else _texts(contexts, where),
    )


def _texts(cell: str, where: str) -> tuple[str, ...]:
    expected = 'expected a JSON list of texts, ["…", "…"]'
    try:
        value = json_value(cell.encode(), "contexts")
        return tuple(TypeAdapter(list[str]).validate_python(value, strict=True))
    except FormatError as error:
        hint = "; Python's json.dumps writes one, str does not" if cell.startswith("['") else ""
        raise FormatError(f"{where}, {error}: {expected}{hint}") from None
    except ValidationError:
        raise FormatError(f"{where}: contexts is {cell!r:.60}; {expected}") from None
