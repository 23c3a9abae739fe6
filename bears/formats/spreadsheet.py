"""CSV that people open in spreadsheets, and save from there."""

import re
from collections.abc import Iterator
from pathlib import Path

from bears.intake.table_text import csv_rows

FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
"""What a spreadsheet takes for the beginning of a formula, and what we put before it."""


def guard(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; `restored` gives back the text."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    """What `guard` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def read_cells(path: Path, short: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file as `csv_rows` has them, its cells as `guard` was given them."""
    return ((line, [restored(cell) for cell in cells]) for line, cells in csv_rows(path, short))
