"""Glossaries as CSV, for spreadsheets: no cell can be taken for a formula."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.formats.records import read_bytes, write_csv
from bears.translation.glossary import CONTROL, Glossary, Origin, Term, fault_in

COLUMNS = ("source", "target", "source_language", "target_language", "note")
# What a spreadsheet takes for the beginning of a formula, and what we put before it.
FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠]")


def write_glossary(path: Path, glossary: Glossary) -> None:
    """Write a glossary for a spreadsheet: no cell can be taken for a formula."""
    rows = ((t.source, t.rendering, t.source_language, t.target_language, t.note) for t in glossary)
    write_csv(path, COLUMNS, ([guard(cell) for cell in row] for row in rows))


def read_csv(path: Path, origin: Origin = "curated") -> list[Term]:
    """Read what `write_glossary` wrote, also after a spreadsheet saved it with ; or tabs, or a BOM.

    Raises:
        FormatError: naming line and column of what is wrong; a source term with two renderings is.
    """
    text = decoded(path)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(text), strict=True)
    terms: dict[tuple[str, str, str], tuple[int, Term]] = {}
    for line, cells in _numbered(path, rows):
        term = _term_of_row(path, line, cells, origin)
        place = (term.source, term.source_language, term.target_language)
        first, known = terms.setdefault(place, (line, term))
        if known.rendering != term.rendering:
            raise FormatError(
                f"{path}, line {line}, column target: {term.source!r} is rendered "
                f"{term.rendering!r} here and {known.rendering!r} on line {first}; "
                "keep one of them"
            )
    return [term for _, term in terms.values()]


def guard(cell: str) -> str:
    return f"'{cell}" if FORMULA.match(cell) else cell


def restored(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and FORMULA.match(cell) else cell


def delimiter(text: str) -> str:
    """What parts the cells of a CSV, since spreadsheets also save it with ; or tabs."""
    return next((c for c in text.partition("\n")[0] if c in ",;\t"), ",")


def decoded(path: Path) -> str:
    """The text of a CSV file. Raises FormatError."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise FormatError(
            f"{path}, line {line}, byte {column}: not UTF-8; save it again as CSV UTF-8"
        ) from None


def _numbered(path: Path, rows: Any) -> Iterator[tuple[int, list[str]]]:
    """(line on which it begins, cells) of the rows after the header; blank rows are left out."""
    line, header = 1, None
    try:
        for cells in rows:
            if header is None:
                header = tuple(cell.strip() for cell in cells)
                if header != COLUMNS:
                    raise FormatError(
                        f"{path}, line 1: the columns must be {','.join(COLUMNS)}, "
                        f"found {','.join(header)}"
                    )
            elif any(cell.strip() for cell in cells):
                yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{path}, line {line}: not valid CSV ({error})") from None
    if header is None:
        raise FormatError(f"{path}, line 1: empty; the columns must be {','.join(COLUMNS)}")


def _term_of_row(path: Path, line: int, cells: list[str], origin: Origin) -> Term:
    if len(cells) != len(COLUMNS):
        column = COLUMNS[len(cells)] if len(cells) < len(COLUMNS) else str(len(COLUMNS) + 1)
        raise FormatError(
            f"{path}, line {line}, column {column}: expected {len(COLUMNS)} cells, "
            f"found {len(cells)}"
        )
    values = [restored(cell).strip() for cell in cells]
    for name, value in zip(COLUMNS[:-1], values, strict=False):
        if problem := fault_in(value):
            raise FormatError(f"{path}, line {line}, column {name}: {problem}")
    note = re.sub("\r\n?", "\n", values[-1])
    if CONTROL.search(note):
        raise FormatError(f"{path}, line {line}, column note: holds control characters: {note!r}")
    source, rendering, source_language, target_language, _ = values
    return Term(source, rendering, source_language, target_language, origin, note)
