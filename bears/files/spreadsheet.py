"""Tables that people open and save in spreadsheets."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unicodedata import normalize

from bears.files.intake.tables import csv_rows, sheet_rows
from bears.files.records import write_text
from bears.files.visible import blank

Rows = Iterator[tuple[int, dict[str, str]]]
"""The line number of each row, and its cells by column."""
QUOTED = "'"
"""Put before a cell, so that a spreadsheet takes it for text."""


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file atomically."""
    write_text(path, csv_text(header, rows))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a CSV file with LF line ends, in which no text is taken for a formula.

    None becomes an empty cell.
    """
    text = _LineFeeds(newline="")
    # The writer quotes cells with a character of the terminator, and a lone CR needs that.
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


class _LineFeeds(io.StringIO):
    """Replaces the CR LF at the end of each row by LF."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def read_cells(path: Path, short: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of a table as `csv_rows` does, with the original cells of `csv_text`.

    It is a CSV file, or a workbook (.xlsx), whose rows may be short in any case.
    """
    rows = sheet_rows(path) if path.suffix.lower() == ".xlsx" else csv_rows(path, short)
    return ((line, [restored(cell) for cell in cells]) for line, cells in rows)


def read_named(path: Path, short: bool = False) -> tuple[list[str], Rows]:
    """Return the header of a table, and the rows of `read_cells` below it by column."""
    rows = read_cells(path, short)
    _, header = next(rows, (1, list[str]()))
    return header, ((line, dict(zip(header, cells, strict=True))) for line, cells in rows)


def guard(cell: str) -> str:
    """Return a cell that no spreadsheet takes for a formula; `restored` undoes it."""
    return QUOTED + cell if _is_formula(cell) else cell


def restored(cell: str) -> str:
    """Undo `guard`."""
    return cell[1:] if cell.startswith(QUOTED) and _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    """Return whether a spreadsheet might compute it, by its first character after any space."""
    for place, c in enumerate(cell):
        if c in "\t\r\n":
            return True
        if c != QUOTED and not blank(c):
            # Characters in full width or superscript count as their plain forms.
            return normalize("NFKC", cell[place])[:1] in tuple("=+-@")
    return False
