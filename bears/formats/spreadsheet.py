"""CSV that people open in spreadsheets, and save from there."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from bears.errors import FormatError
from bears.formats.records import read_bytes

FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")
"""What a spreadsheet takes for the beginning of a formula, and what we put before it."""


def guard(cell: str) -> str:
    """A cell that no spreadsheet takes for a formula; `restored` gives back the text."""
    return f"'{cell}" if FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    """What `guard` was given."""
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def read_cells(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, also of one that a spreadsheet saved with ; or tabs, or a BOM.

    Yields:
        The line on which a row begins, from 1, and its cells as `guard` was given them.

    Raises:
        FormatError: naming the line that is not UTF-8 or not CSV.
    """
    text = _decoded(path)
    delimiter = next((c for c in text.partition("\n")[0] if c in ",;\t"), ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in rows:
            yield line, [restored(cell) for cell in cells]
            line = rows.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{path}, line {line}: not valid CSV ({error})") from None


def _decoded(path: Path) -> str:
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(
            f"{path}, line {line}, byte {column}: not UTF-8; save it again as CSV UTF-8"
        ) from None
