"""Glossaries as CSV, for spreadsheets: no cell can be taken for a formula."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from bears.errors import FormatError
from bears.files.spreadsheet import read_cells, write_csv
from bears.translation.glossary import CONTROL, fault_in

COLUMNS = ("source", "target", "source_language", "target_language", "note")


@dataclass(frozen=True, slots=True)
class Term:
    """A source term and the one way in which it is rendered.

    Args:
        source: as it stands in texts.
        rendering: what stands for it in translations.
        source_language: BCP 47 tag.
        target_language: BCP 47 tag.
        note: for people.
    """

    source: str
    rendering: str
    source_language: str
    target_language: str
    note: str = ""

    @property
    def place(self) -> tuple[str, str, str]:
        """What has one rendering."""
        return self.source, self.source_language, self.target_language


def write_glossary(path: Path, terms: Iterable[Term]) -> int:
    """Write terms for a spreadsheet, sorted, the first of each; return how many there are."""
    kept: dict[tuple[str, str, str], Term] = {}
    for term in terms:
        kept.setdefault(term.place, term)
    rows = (
        (t.source, t.rendering, t.source_language, t.target_language, t.note)
        for _, t in sorted(kept.items())
    )
    write_csv(path, COLUMNS, rows)
    return len(kept)


def read_glossary(path: Path) -> list[Term]:
    """Read what `write_glossary` wrote, also after a spreadsheet saved it with ; or tabs, or a BOM.

    Raises:
        FormatError: naming line and column of what is wrong; a source term with two renderings is.
    """
    terms: dict[tuple[str, str, str], tuple[int, Term]] = {}
    for line, cells in _rows(path):
        term = _term_of_row(path, line, cells)
        first, known = terms.setdefault(term.place, (line, term))
        if known.rendering != term.rendering:
            raise FormatError(
                f"{path}, line {line}, column target: {term.source!r} is rendered "
                f"{term.rendering!r} here and {known.rendering!r} on line {first}; "
                "keep one of them"
            )
    return [term for _, term in terms.values()]


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The rows after the header."""
    rows = read_cells(path)
    expected = f"the columns must be {','.join(COLUMNS)}"
    if (first := next(rows, None)) is None:
        raise FormatError(f"{path}, line 1: empty; {expected}")
    header = [cell.strip() for cell in first[1]]
    if header != [*COLUMNS]:
        raise FormatError(f"{path}, line 1: {expected}, found {','.join(header)}")
    return rows


def _term_of_row(path: Path, line: int, cells: list[str]) -> Term:
    values = [cell.strip() for cell in cells]
    for name, value in zip(COLUMNS[:-1], values, strict=False):
        if problem := fault_in(value):
            raise FormatError(f"{path}, line {line}, column {name}: {problem}")
    note = re.sub("\r\n?", "\n", values[-1])
    if CONTROL.search(note):
        raise FormatError(f"{path}, line {line}, column note: holds control characters: {note!r}")
    source, rendering, source_language, target_language, _ = values
    return Term(source, rendering, source_language, target_language, note)
