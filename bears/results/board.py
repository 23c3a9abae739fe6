"""The leaderboard's file: one row for each key, with facts only."""

import re
from collections.abc import Iterable
from pathlib import Path

from bears.errors import FormatError
from bears.files.records import value_as
from bears.files.spreadsheet import csv_text, read_cells
from bears.results.row import MEASURES, LeaderboardRow

WORDS = (
    *("benchmark", "source", "state", "system", "configuration", "origin"),
    *("vector_store", "chunking", "generator", "judge", "answers"),
)
COUNTS = ("questions", "documents", "answered")
HEADER = (
    *(*WORDS, *COUNTS, *MEASURES, "seconds_per_question", "warnings"),
    *("main", "generated", "decisions", "timestamp"),
)
DERIVED = ("low", "high", "group", "rank", "differs")
"""Columns of the printed tables."""
UNREAD = (*DERIVED, "known_by", "audited")
"""Columns of files of earlier versions."""


def read_board(path: Path) -> list[LeaderboardRow]:
    """Return the rows of a leaderboard; none where the file does not exist.

    Raises:
        FormatError: it has columns that are not in `HEADER`, or a cell that should be a number is
            not one. Columns that an older file lacks are empty.
    """
    if not path.exists():
        return []
    rows = read_cells(path)
    header = next(rows, (1, list[str]()))[1]
    if not {"benchmark", "system", "configuration"} <= set(header) <= {*HEADER, *UNREAD}:
        raise FormatError(f"{path}: expected the header {','.join(HEADER)}; remove the file")
    return [_entry(header, row, f"{path}, line {line}") for line, row in rows]


def board_text(rows: Iterable[LeaderboardRow]) -> str:
    """Return the CSV file of these rows."""
    return csv_text(HEADER, ([re.sub(r"[\r\n]", " ", c) for c in cells(row)] for row in rows))


def cell(value: str | float | None) -> str:
    """Return a text, or a number with six decimals at the most, the same on every machine."""
    if isinstance(value, float | int):
        return f"{value:.6f}".rstrip("0").rstrip(".")
    return value or ""


def cells(row: LeaderboardRow) -> list[str]:
    """Return the cells of a row, in the order of `HEADER`."""
    found = (row.values.get(name) if name in MEASURES else getattr(row, name) for name in HEADER)
    return list(map(cell, found))


def _entry(header: list[str], row: list[str], where: str) -> LeaderboardRow:
    known = {n: c for n, c in zip(header, row, strict=True) if c and n not in UNREAD}
    values = {name: known.pop(name) for name in MEASURES if name in known}
    return value_as(LeaderboardRow, {**dict.fromkeys(WORDS, ""), **known, "values": values}, where)
