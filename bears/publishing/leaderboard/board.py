"""The leaderboard as a CSV file, one row a key, and as Markdown for people."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.errors import FormatError
from bears.files import shown
from bears.files.spreadsheet import csv_text, read_cells
from bears.publishing.leaderboard.joining import put
from bears.publishing.leaderboard.row import MAIN, MEASURES, LeaderboardRow

_STATE = ("benchmark", "source", "state")
_SYSTEM = ("system", "configuration", "origin", "vector_store", "chunking")
_WORDS = (*_STATE, *_SYSTEM, "generator", "judge", "answers")
_COUNTS = ("questions", "documents", "answered")
_STANDING = ("main", "low", "high", "group", "rank", "known_by", "differs")
HEADER = (
    *(*_WORDS, *_COUNTS, *MEASURES, "seconds_per_question", "warnings", *_STANDING),
    *("generated", "audited"),
)

BOARD = Path("metrics/leaderboard.csv")


def upsert(
    board: Iterable[LeaderboardRow], entries: Iterable[LeaderboardRow]
) -> list[LeaderboardRow]:
    """The board with ``entries``, each put as `joining` does, in its order.

    The order is that of `in_order`, the same everywhere.
    """
    rows = {row.key: row for row in board}
    for entry in entries:
        put(rows, entry)
    return in_order(rows.values())


def in_order(rows: Iterable[LeaderboardRow]) -> list[LeaderboardRow]:
    """By benchmark and its state, then by group, and within a group by name, never by noise.

    Rows that were never placed come by their main measure, from the best.
    """
    return sorted(rows, key=_place)


def _place(entry: LeaderboardRow) -> tuple[Any, ...]:
    main = entry.values.get(entry.main or MAIN)
    noise = 0.0 if entry.group else -(main if main is not None else -1.0)
    letters = [(letter.isupper(), letter) for letter in entry.group]
    return state_of(entry), not entry.group, letters, noise, entry.system, entry.key


def state_of(entry: LeaderboardRow) -> tuple[str, str, str]:
    """What rows must share to be compared."""
    return entry.benchmark, entry.source, entry.state


def read_board(path: Path) -> list[LeaderboardRow]:
    """The rows of a leaderboard; none where the file does not exist.

    Raises:
        FormatError: as `csv_rows`; it has columns that are none of `HEADER`; or a cell that should
            be a number is none. Of an older one further columns are empty.
    """
    if not path.exists():
        return []
    rows = read_cells(path)
    header = next(rows, (1, list[str]()))[1]
    if not {"benchmark", "system", "configuration"} <= set(header) <= set(HEADER):
        raise FormatError(f"{path}: expected the header {','.join(HEADER)}; remove the file")
    return [_entry(header, row, f"{path}, line {line}") for line, row in rows]


def board_files(path: Path, board: Sequence[LeaderboardRow]) -> dict[Path, str]:
    """What the file at ``path`` (CSV) and the one beside it (Markdown) hold of a board."""
    cells = ([re.sub(r"[\r\n]", " ", cell) for cell in _cells(entry)] for entry in board)
    return {path: csv_text(HEADER, cells), path.with_suffix(".md"): markdown(board)}


def markdown(board: Sequence[LeaderboardRow]) -> str:
    """A table for each state of a benchmark, since only its rows can be compared.

    It has the columns that any row fills; no cell can leave it or hold a link.
    """
    states = groupby(board, key=state_of)
    return "\n".join(_section(state, list(rows)) for state, rows in states)


def _section(state: tuple[str, str, str], board: Sequence[LeaderboardRow]) -> str:
    name, source, digest = map(shown.markdown, state)
    sizes = (f"{getattr(board[0], word)} {word}" for word in _COUNTS[:2] if getattr(board[0], word))
    heading = f"{name} ({source})" if source else name
    rows = [dict(zip(HEADER, _cells(entry), strict=True)) for entry in board]
    main = board[0].main
    first = dict.fromkeys(("system", "group", "rank", main, "low", "high", "audited", *HEADER))
    hidden = (*_STATE, *_COUNTS[:2], "main", "")
    filled = [name for name in first if name not in hidden and any(row[name] for row in rows)]
    order = [f"by {shown.markdown(main)}"] if main else []
    parts = (heading, *sizes, f"state {digest or 'unknown'}", *order)
    table = shown.markdown_table(filled, [[row[column] for column in filled] for row in rows])
    return f"## {', '.join(parts)}\n\n{table}"


def number(value: float | None) -> str:
    """Six decimals at the most; the same text on every machine."""
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".")


def _cells(entry: LeaderboardRow) -> list[str]:
    found = (
        entry.values.get(name) if name in MEASURES else getattr(entry, name) for name in HEADER
    )
    return [value if isinstance(value, str) else number(value) for value in found]


def _entry(header: list[str], row: list[str], where: str) -> LeaderboardRow:
    cells = {name: cell for name, cell in zip(header, row, strict=True) if cell}
    values = {name: cells.pop(name) for name in MEASURES if name in cells}
    try:
        return TypeAdapter(LeaderboardRow).validate_python(
            {**dict.fromkeys(_WORDS, ""), **cells, "values": values}
        )
    except ValidationError as error:
        problem = error.errors()[0]
        raise FormatError(f"{where}, {problem['loc'][-1]}: {problem['msg']}") from None
