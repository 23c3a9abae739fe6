"""Parquet from outside, in batches of rows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bears.errors import FormatError, first_line
from bears.files.intake.files import DEPTH, beyond, opened

ROWS = 256
BATCH_BYTES = 64 * 1024 * 1024
"""How many rows are read at once, and the most bytes that they may have by the file's metadata."""


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
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise FormatError(f"{path}: two columns are called {twice!r:.80}")
    columns = (file.schema.column(n).path for n in range(len(file.schema)))
    if any(column.count(".") > DEPTH for column in columns):
        raise beyond(str(path), "its columns are nested too deeply", DEPTH)


def _rows_at_once(metadata: Any) -> int:
    groups = [metadata.row_group(n) for n in range(metadata.num_row_groups)]
    largest = max((g.total_byte_size // max(1, g.num_rows) for g in groups), default=0)
    return max(1, min(ROWS, BATCH_BYTES // max(1, largest)))
