"""Tables from outside: CSV, workbooks (.xlsx) and Parquet; and the bounds of packed files."""

import csv
import io
import warnings
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import IO, Any

from bears.errors import FormatError, first_line
from bears.files.intake.files import DEPTH, TEXT_BYTES, beyond, opened, read_text, read_whole

WORKBOOK_BYTES = 64 << 20
"""The size of the unpacked XML of a workbook."""
CELLS = 1 << 24
"""The most cells of a sheet; a row counts as one more, also if the file leaves it out."""
QUESTIONS = {"question", "question_id"}
ROWS = 256
BATCH_BYTES = 64 * 1024 * 1024
"""How many rows are read at once, and the most bytes that they may have by the file's metadata."""


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


def sheet_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a workbook's first sheet that has questions, as `csv_rows` does.

    Its first row that is not empty has a cell ``question`` or ``question_id``; without such a sheet
    it is the first one. Cells are texts: whole numbers have no decimal point, dates are in ISO
    8601, and a formula is the value that was stored with it. Rows may lack their last cells.

    Raises:
        FormatError: it is damaged, encrypted, no workbook, or too large; a row has more cells than
            the header; or a column's name is repeated.
    """
    # It takes 0.1 s to import. python-calamine is faster, but reserves memory for every cell up to
    # the farthest one, so that a file of 2 KB ends the process; and it drops a formula's error.
    from openpyxl import load_workbook

    data = io.BytesIO(read_whole(path))
    check_packed(data, path, WORKBOOK_BYTES)
    try:
        # It warns of what it does not read, such as the rules of a cell.
        with warnings.catch_warnings(action="ignore"):
            book = load_workbook(data, read_only=True, data_only=True, keep_links=False)
            sheets = [rows for sheet in book.worksheets if (rows := _rows(sheet))]
    except Exception as error:
        # A damaged file makes it fail in ways that it does not list.
        raise FormatError(f"{path}: not a readable workbook ({first_line(error)})") from None
    named = [rows for rows in sheets if QUESTIONS & {cell.strip().lower() for cell in rows[0][1]}]
    rows = [*named, *sheets, []][0]
    for number, cells in rows:
        header = rows[0][1]
        cells += [""] * (len(header) - len(cells))
        check_width(header, cells, f"{path}, row {number}")
        yield number, cells


def _rows(sheet: Any) -> list[tuple[int, list[str]]]:
    """Return the rows of a sheet that are not empty, without the empty cells at their ends."""
    # The size that a file declares may be wrong.
    sheet.reset_dimensions()
    rows = []
    size = 0
    for number, values in enumerate(sheet.iter_rows(values_only=True), start=1):
        size += len(values) + 1
        if size > CELLS:
            raise ValueError(f"a sheet has more than {CELLS} cells")
        cells = [_text(value) for value in values]
        while cells and not cells[-1].strip():
            cells.pop()
        if cells:
            rows.append((number, cells))
    return rows


def _text(value: Any) -> str:
    if isinstance(value, float):
        # Spreadsheets compute with 15 digits.
        return f"{value:.15g}"
    if isinstance(value, datetime):
        return value.isoformat().removesuffix("T00:00:00")
    return "" if value is None else str(value)


def check_packed(stream: IO[bytes], path: Path, most: int) -> None:
    """Refuse a zip whose parts unpack to more than ``most`` bytes; then rewind the stream.

    The declared size of a part can be trusted: a reader of zips yields no more than that.

    Raises:
        FormatError: it is not a zip, is encrypted or damaged, or unpacks to too much.
    """
    try:
        with zipfile.ZipFile(stream) as packed:
            parts = packed.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise FormatError(
            f"{path}: it cannot be unpacked ({error}); it is damaged, has a password, or is of an "
            f"old version of Office: save it anew as {path.suffix}"
        ) from None
    if any(part.flag_bits & 1 for part in parts):
        raise FormatError(f"{path}: it is encrypted; save it without a password")
    # Pictures are not read, and hardly shrink; a file that shrinks more is a text.
    size = sum(
        part.file_size
        for part in parts
        if part.filename.endswith((".xml", ".rels")) or part.file_size > 4 * part.compress_size
    )
    if size > most:
        raise beyond(str(path), f"its texts unpack to {size} bytes", most)
    stream.seek(0)


def parquet_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a parquet file.

    Raises:
        FormatError: the file is missing or damaged, two columns have one name, or a value is
            beyond the limits.
    """
    from pyarrow import ArrowException, parquet

    number = 0
    # With the defaults pyarrow ends up holding the whole file: it prefetches every column chunk.
    with opened(path) as stream:
        try:
            with parquet.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20) as file:
                _check_columns(file, path)
                for batch in file.iter_batches(batch_size=_rows_at_once(file.metadata)):
                    rows = batch.to_pylist()
                    number += len(rows)
                    yield from rows
        except (ArrowException, ValueError, OSError) as error:
            problem = f"not valid parquet after row {number} ({first_line(error)})"
            raise FormatError(f"{path}: {problem}") from None


def _check_columns(file: Any, path: Path) -> None:
    names = file.schema_arrow.names
    check_width(names, names, str(path))
    columns = (file.schema.column(n).path for n in range(len(file.schema)))
    if any(column.count(".") > DEPTH for column in columns):
        raise beyond(str(path), "its columns are nested too deeply", DEPTH)


def _rows_at_once(metadata: Any) -> int:
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    largest = max((g.total_byte_size // max(1, g.num_rows) for g in groups), default=0)
    return max(1, min(ROWS, BATCH_BYTES // max(1, largest)))
