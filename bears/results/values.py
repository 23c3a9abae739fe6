"""Values by question in a CSV file."""

import math
from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from bears.errors import FormatError
from bears.evaluation.comparison.values import SOURCE, TYPE
from bears.files.spreadsheet import read_cells

QUESTION, VERDICT = "question_id", "verdict"
PASS_RATE = "pass_rate"
NOT_MEASURED = frozenset(
    {
        *("n_gold", "question", "gold_answers", "answer", "reason", "cause", "flags"),
        *("gold_shown", "gold_cut", "gold_not_retrieved", "cited_not_given"),
    }
)
"""Columns of the pipeline's own files that are no measures; a text may be a number."""
WORDS = {"true": 1.0, "false": 0.0, "pass": 1.0, "fail": 0.0, "unscored": math.nan, "": math.nan}
"""What a cell may be beside a number. Unscored is undefined: an error of a judge is no fail."""
LARGEST = 1e15
"""Beyond it sums of values lose whole units, and squares of them overflow before long."""


def read_values(
    path: Path, called: str = "", chosen: Collection[str] = (), unjudged: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a CSV file of values by question.

    It has a column ``question_id`` and one for each measure, with a number or nothing in each
    cell; true and pass are 1, false and fail 0, unscored is nothing. A column without a single
    number is no measure. ``verdict`` is the measure ``pass_rate``.

    Args:
        path: the file.
        called: what messages call it; empty: its path.
        chosen: the measures to read, where other columns are texts that may look like numbers;
            none: all.
        unjudged: whether there may be no measure, as where nobody knows the gold.

    Returns:
        A row for each question: its values; and its ``question_type`` and ``source_dataset``.

    Raises:
        FormatError: naming the line and the column that is wrong; a question stands twice; or
            there is no question or no measure.
    """
    where = called or str(path)
    rows = read_cells(path)
    header = next(rows, (1, []))[1]
    if QUESTION not in header:
        raise FormatError(f"{where}: no column {QUESTION}; found {', '.join(header) or 'nothing'}")
    if {VERDICT, PASS_RATE} <= set(header):
        raise FormatError(f"{where}: {VERDICT} is the measure {PASS_RATE}; leave one of them out")
    found = list(rows)
    lines = [line for line, _ in found]
    cells = pd.DataFrame([row for _, row in found], columns=header, dtype=str)
    if twice := cells[QUESTION][cells[QUESTION].duplicated()].tolist():
        raise FormatError(f"{where}: the question {twice[0]!r:.80} stands twice")
    columns = {
        PASS_RATE if name == VERDICT else name: numbers
        for name in header
        if name not in {QUESTION, TYPE, SOURCE} | NOT_MEASURED
        and (not chosen or (PASS_RATE if name == VERDICT else name) in chosen)
        and (numbers := _numbers(cells[name], lines, where)) is not None
    }
    if not len(cells) or not (columns or unjudged):
        lacking = "measure: a column of numbers" if len(cells) else "question"
        raise FormatError(f"{where}: not a single {lacking}")
    ids = pd.Index(cells[QUESTION], dtype=object, name=QUESTION)
    kinds = cells[[name for name in (TYPE, SOURCE) if name in header]].set_axis(ids)
    return pd.DataFrame(columns, index=ids), kinds


def _numbers(cells: pd.Series, lines: Sequence[int], where: str) -> list[float] | None:
    """The numbers of a column; None where it has none, and so is a text."""
    read = [_number(cell) for cell in cells]
    if not any(value is not None and not math.isnan(value) for value in read):
        return None
    for line, cell, value in zip(lines, cells, read, strict=True):
        if value is None or abs(value) > LARGEST:
            wrong = "is no number" if value is None else f"is beyond {LARGEST:g}"
            raise FormatError(
                f"{where}, line {line}, {cells.name}: {cell!r:.80} {wrong}; a value that is "
                "undefined is an empty cell"
            )
    return [math.nan if value is None else value for value in read]


def _number(cell: str) -> float | None:
    word = cell.strip()
    if word.lower() in WORDS:
        return WORDS[word.lower()]
    try:
        value = float(word)
    except ValueError:
        return None
    # Python reads "0_1" and digits of other scripts as numbers; no other tool does.
    return value if math.isfinite(value) and word.isascii() and "_" not in word else None
