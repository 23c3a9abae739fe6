"""CSV from outside, as programs and spreadsheets write it."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from bears.errors import FormatError
from bears.files.intake.files import read_text
from bears.files.intake.limits import TEXT_BYTES


def csv_rows(path: Path, short: bool = False) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file, also of one that a spreadsheet saved with ; or tabs, or a BOM.

    Args:
        path: the file.
        short: whether a row may lack its last cells, as Excel saves those that are empty, and gets
            them back empty; not in a file whose last line has no end, for it may be cut.

    Yields:
        The line on which a row begins, from 1, and its cells. The first row, if there is one, is
        the header; every other has as many cells, and rows without any are left out.

    Raises:
        FormatError: naming the line that is not CSV, or has more or fewer cells than the header; a
            name stands twice in the header; or as `bears.files.intake.files.read_text`.
    """
    # The module's own limit is 131,072 characters, and holds for every reader.
    csv.field_size_limit(TEXT_BYTES)
    text = read_text(path)
    short = short and text.endswith(("\n", "\r"))
    delimiter = next((c for c in text.partition("\n")[0] if c in ",;\t"), ",")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    line = 1
    try:
        for cells in rows:
            if any(cell.strip() for cell in cells):
                header = header or cells
                cells += [""] * (len(header) - len(cells)) * short
                _check(header, cells, f"{path}, line {line}")
                yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{path}, line {line}: not valid CSV ({error})") from None


def _check(header: list[str], cells: list[str], where: str) -> None:
    if cells is header and len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FormatError(f"{where}: two columns are called {twice!r:.80}")
    if len(cells) != len(header):
        raise FormatError(
            f"{where}: {len(cells)} cells, expected {len(header)}: {', '.join(header):.200}"
        )
