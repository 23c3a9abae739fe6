"""The leaderboard as a CSV file, one row a key, and as Markdown for people."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from tabulate import tabulate

from bears.errors import FormatError
from bears.formats.records import read_bytes, write_csv, write_text
from bears.leaderboard.entry import MAIN, MEASURES, Entry

_WORDS = ("benchmark", "system", "configuration", "origin", "vector_store", "chunking")
HEADER = (*_WORDS, "questions", "answered", *MEASURES, "seconds_per_question", "warnings")

# A spreadsheet takes what starts so for a formula (OWASP, CSV injection).
BOARD = Path("metrics/leaderboard.csv")
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def upsert(board: Iterable[Entry], entries: Iterable[Entry]) -> list[Entry]:
    """The board with ``entries``, each in place of the row with its key, in the board's order.

    The order is by benchmark, then by `MAIN` from the best, then by name: the same everywhere.
    """
    rows = {entry.key: entry for entry in (*board, *entries)}
    return sorted(rows.values(), key=_place)


def _place(entry: Entry) -> tuple[str, float, str, str]:
    main = entry.values.get(MAIN)
    return entry.benchmark, -(main if main is not None else -1.0), *entry.key[1:]


def read_board(path: Path) -> list[Entry]:
    """The rows of a leaderboard; none where the file does not exist.

    Raises:
        FormatError: it has another header, or a cell that should be a number is none.
    """
    if not path.exists():
        return []
    rows = list(csv.reader(io.StringIO(read_bytes(path).decode("utf-8"), newline="")))
    if not rows or tuple(rows[0]) != HEADER:
        raise FormatError(f"{path}: expected the header {','.join(HEADER)}; remove the file")
    return [_entry(row, f"{path}, row {number}") for number, row in enumerate(rows[1:], start=2)]


def write_board(path: Path, board: Sequence[Entry]) -> None:
    """Write the board as CSV, and beside it as Markdown, both atomically."""
    write_csv(path, HEADER, ([safe_cell(cell) for cell in _cells(entry)] for entry in board))
    write_text(path.with_suffix(".md"), markdown(board))


def markdown(board: Sequence[Entry]) -> str:
    """A table with the columns that any row fills; no cell can leave it or hold a link."""
    rows = [_cells(entry) for entry in board]
    filled = [i for i in range(len(HEADER)) if any(row[i] for row in rows) or i < 3]
    return markdown_table([HEADER[i] for i in filled], [[row[i] for i in filled] for row in rows])


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of texts, each escaped."""
    cells = [[_escaped(cell) for cell in row] for row in rows]
    return tabulate(cells, headers=list(header), tablefmt="pipe", disable_numparse=True) + "\n"


def safe_cell(text: str) -> str:
    """``text`` on one line, and so that no spreadsheet takes it for a formula."""
    text = re.sub(r"[\r\n]", " ", text)
    return f"'{text}" if text.startswith(_FORMULA) else text


def number(value: float | None) -> str:
    """Six decimals at the most; the same text on every machine."""
    return "" if value is None else f"{value:.6f}".rstrip("0").rstrip(".")


def _cells(entry: Entry) -> list[str]:
    counts = ["" if n is None else str(n) for n in (entry.questions, entry.answered)]
    measures = [number(entry.values.get(name)) for name in MEASURES]
    words = [getattr(entry, name) for name in _WORDS]
    return [*words, *counts, *measures, number(entry.seconds_per_question), entry.warnings]


def _entry(row: list[str], where: str) -> Entry:
    if len(row) != len(HEADER):
        raise FormatError(f"{where}: {len(row)} cells, expected {len(HEADER)}")
    cells = dict(zip(HEADER, (_plain(cell) for cell in row), strict=True))
    try:
        return Entry(
            **{name: cells[name] for name in _WORDS},
            questions=int(cells["questions"]) if cells["questions"] else None,
            answered=int(cells["answered"]) if cells["answered"] else None,
            values={name: float(cells[name]) for name in MEASURES if cells[name]},
            seconds_per_question=float(cells["seconds_per_question"])
            if cells["seconds_per_question"]
            else None,
            warnings=cells["warnings"],
        )
    except ValueError as error:
        raise FormatError(f"{where}: {error}") from None


def _plain(cell: str) -> str:
    return cell[1:] if cell.startswith("'") else cell


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_{}\[\]()#|~])", r"\\\1", escape(" ".join(text.split()), quote=False))
