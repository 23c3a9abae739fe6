"""CSV from outside, as written by programs and spreadsheets."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from bears.errors import FormatError
from bears.files.intake.files import TEXT_BYTES, read_text


def csv_rows(path: Path, short: bool = False) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a CSV file, which may have semicolons, tabs or a byte order mark.

    Args:
        path: the file.
        short: add empty cells to rows that lack their last ones, which Excel leaves out; not if the
            last line has no end, since the file may be cut.

    Yields:
        The line on which a row begins, from 1, and its cells. The first row, if there is one, is
        the header; all rows have as many cells, and empty rows are left out.

    Raises:
        FormatError: naming the line that is not CSV, or has more or fewer cells than the header; a
            name is repeated in the header; or as `bears.files.intake.files.read_text` does.
    """
    # The module's default is 131,072 characters, for every reader.
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
                check_width(header, cells, f"{path}, line {line}")
                yield line, cells
            line = rows.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{path}, line {line}: not valid CSV ({error})") from None


def check_width(header: list[str], cells: list[str], where: str) -> None:
    """Raise FormatError if a row is not as wide as the header, or the header repeats a name."""
    if cells is header and len(set(header)) < len(header):
        twice = next(name for name in header if header.count(name) > 1)
        raise FormatError(f"{where}: two columns are called {twice!r:.80}")
    if len(cells) != len(header):
        raise FormatError(
            f"{where}: {len(cells)} cells, expected {len(header)}: {', '.join(header):.200}"
        )
