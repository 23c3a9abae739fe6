"""CSV that people open in spreadsheets, and save from there."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from bears.files.intake.table_text import csv_rows
from bears.files.records import write_text
from bears.files.shown import guard, restored

Rows = Iterator[tuple[int, dict[str, str]]]
"""Rows of a table by its columns, each after its line."""


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a CSV file atomically."""
    write_text(path, csv_text(header, rows))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A CSV file with LF at the ends of its lines; no text in it is taken for a formula.

    None is an empty cell.
    """
    text = _LineFeeds(newline="")
    # What is a part of the terminator is quoted within a cell, as a lone CR has to be.
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow([guard(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue()


class _LineFeeds(io.StringIO):
    """Rows, each of which comes with CR and LF at its end, with LF alone."""

    def write(self, row: str, /) -> int:
        return super().write(row.removesuffix("\r\n") + "\n")


def read_cells(path: Path, short: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file as `csv_rows` has them, its cells as `csv_text` was given them."""
    return ((line, [restored(cell) for cell in cells]) for line, cells in csv_rows(path, short))


def read_named(path: Path, short: bool = False) -> tuple[list[str], Rows]:
    """The header of a CSV file, and the rows below it as `read_cells` has them, by its names."""
    rows = read_cells(path, short)
    _, header = next(rows, (1, list[str]()))
    return header, ((line, dict(zip(header, cells, strict=True))) for line, cells in rows)
