"""The leaderboard's file: one row for each key, with facts only."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import ValidationError

from bears.errors import FormatError
from bears.files.records import adapter_of
from bears.files.spreadsheet import csv_text, read_cells, read_named
from bears.results.row import MEASURES, LeaderboardRow

WORDS = (
    *("benchmark", "source", "state", "system", "configuration", "origin"),
    *("vector_store", "chunking", "generator", "judge", "answers"),
)
COUNTS = ("questions", "documents", "answered")
HEADER = (
    *(*WORDS, *COUNTS, *MEASURES, "seconds_per_question", "warnings"),
    *("main", "generated", "decisions"),
)
DERIVED = ("low", "high", "group", "rank", "differs")
"""Columns of the printed tables."""
TIMESTAMP = "timestamp"
"""The last column of the file, which `read_times` reads."""
UNREAD = (*DERIVED, TIMESTAMP, "known_by", "audited")
"""Columns that no row has; some are of files of earlier versions."""

Times = Mapping[tuple[str, ...], str]
"""When results were measured, in UTC, as ISO 8601 has it, by `LeaderboardRow.key`."""


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


def read_times(path: Path) -> dict[tuple[str, ...], str]:
    """Return the `Times` of a leaderboard; empty where an earlier version wrote none."""
    rows = read_board(path)
    found = read_named(path)[1] if rows else ()
    return {row.key: own.get(TIMESTAMP, "") for row, (_, own) in zip(rows, found, strict=True)}


def board_text(rows: Iterable[LeaderboardRow], times: Times | None = None) -> str:
    """Return the CSV file of these rows."""
    of = times or {}
    written = ([*cells(row), of.get(row.key, "")] for row in rows)
    texts = ([re.sub(r"[\r\n]", " ", text) for text in row] for row in written)
    return csv_text((*HEADER, TIMESTAMP), texts)


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
    try:
        entry: LeaderboardRow = adapter_of(LeaderboardRow).validate_python(
            {**dict.fromkeys(WORDS, ""), **known, "values": values}
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise FormatError(f"{where}, {problem['loc'][-1]}: {problem['msg']}") from None
    return entry
