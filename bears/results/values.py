"""Values by question in a CSV file."""

import math
import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from bears.answers.judging.ruling import VALUES
from bears.errors import FormatError
from bears.evaluation.comparison.values import CLUSTER, SOURCE, TURN, TYPE, WEIGHT
from bears.evaluation.repeats import PLACES
from bears.files.intake.yaml_text import table_of
from bears.files.spreadsheet import read_cells

QUESTION, VERDICT = "question_id", "verdict"
PASS_RATE = "pass_rate"
PASSES = r"pass_rate|pass[@^]\d+"
OF_ITEMS = r"graded_.*|nugget_.*|citation_(precision|recall)|refusal_recall"
BY_JUDGES = f"{PASSES}|{OF_ITEMS}"
"""Matches the measures that a judge gives."""
NOT_MEASURED = frozenset(table_of(__file__))
"""Columns of the pipeline's own files that are not measures; a text may be a number."""
WORDS = {"true": 1.0, "false": 0.0, **VALUES, "": math.nan}
"""Accepted cells that are not numbers. Unscored is undefined: a judge's error is not a fail."""
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
LARGEST = 1e15
"""Larger values lose whole units in sums, and their squares may overflow."""


def averaged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of the defined values of each question, in their order."""
    return rows.groupby(level=QUESTION, sort=False).mean()


def read_values(
    path: Path, called: str = "", chosen: str = "", unjudged: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return what `read_repeats` does, with the means of each question."""
    rows, kinds = read_repeats(path, called, chosen, unjudged)
    return averaged(rows), kinds


def read_repeats(
    path: Path, called: str = "", chosen: str = "", unjudged: bool = False
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Read a CSV file of values by question.

    It has a column ``question_id`` and one for each measure, with a number or nothing in each
    cell; true and pass are 1, false and fail 0, unscored is nothing. A column without a single
    number is not a measure. ``verdict`` is the measure ``pass_rate``. If a question has several
    rows, ``repeat`` or ``judgement`` numbers them.

    Args:
        path: the file.
        called: its name in messages; empty: its path.
        chosen: matches the measures to read, if other columns are texts that may look like
            numbers; empty: all.
        unjudged: whether a file without measures is accepted, for questions without known gold.

    Returns:
        The values by question, repeat and judgement; and by question its ``question_type``,
        ``source_dataset``, ``cluster``, ``turn`` and ``weight``, as far as the file has them.

    Raises:
        FormatError: naming the line and the column that is wrong; a question occurs twice; or
            there is no question or no measure.
    """
    where = called or str(path)
    rows = read_cells(path)
    header = next(rows, (1, []))[1]
    if QUESTION not in header:
        raise FormatError(f"{where}: no column {QUESTION}; found {', '.join(header) or 'nothing'}")
    if {VERDICT, PASS_RATE} <= set(header):
        raise FormatError(f"{where}: {VERDICT} is the measure {PASS_RATE}; leave one of them out")
    numbered = list(rows)
    lines = [line for line, _ in numbered]
    cells = pd.DataFrame([row for _, row in numbered], columns=header, dtype=str)
    places = cells.reindex(columns=[QUESTION, *PLACES], fill_value="1")
    if twice := cells[QUESTION][places.duplicated()].tolist():
        raise FormatError(f"{where}: the question {twice[0]!r:.80} occurs twice")
    columns = {
        measure: numbers
        for name in header
        if name not in {QUESTION, TYPE, SOURCE, CLUSTER, TURN, WEIGHT, *PLACES} | NOT_MEASURED
        and (measure := PASS_RATE if name == VERDICT else name)
        and (not chosen or re.fullmatch(chosen, measure))
        and (numbers := _numbers(cells[name], lines, where)) is not None
    }
    if not len(cells) or not (columns or unjudged):
        lacking = "measure: a column of numbers" if len(cells) else "question"
        raise FormatError(f"{where}: not a single {lacking}")
    ids = pd.Index(cells[QUESTION], dtype=object, name=QUESTION)
    known = [name for name in (TYPE, SOURCE, CLUSTER, TURN, WEIGHT) if name in header]
    kinds = cells[known].set_axis(ids)
    index = pd.MultiIndex.from_arrays([ids, *(places[name] for name in PLACES)])
    return pd.DataFrame(columns, index=index), kinds[~ids.duplicated()]


def _numbers(cells: pd.Series, lines: Sequence[int], where: str) -> list[float] | None:
    """Return the numbers of a column, or None if it has only texts."""
    words = [cell.strip().lower() for cell in cells]
    # Python reads "0_1", "inf" and digits of other scripts as numbers; other tools do not.
    values = [float(word) if NUMBER.fullmatch(word) else WORDS.get(word) for word in words]
    if all(value is None or math.isnan(value) for value in values):
        return None
    for line, cell, value in zip(lines, cells, values, strict=True):
        if value is None or abs(value) > LARGEST:
            wrong = "is not a number" if value is None else f"is beyond {LARGEST:g}"
            raise FormatError(
                f"{where}, line {line}, {cells.name}: {cell!r:.80} {wrong}; leave the cell empty "
                "if the value is undefined"
            )
    return [math.nan if value is None else value for value in values]
