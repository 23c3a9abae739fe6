"""Bounds for one file, each far beyond the needs of a benchmark."""

from bears.errors import FormatError

WHOLE_BYTES = 512 * 1024 * 1024
"""The most bytes of a file or record that is held in memory."""
TEXT_BYTES = 50_000_000
"""The most bytes of a record of streamed JSON, of a cell of a table, and of a YAML file."""
DEPTH = 100
"""The most nested lists and objects in YAML and Parquet; jiter, which parses JSON, allows 200."""
RATIO = 200
"""Bytes that one byte of a packed file may become, beyond the first 64 MiB."""


def beyond(where: str, found: str, limit: int) -> FormatError:
    """Return the error for a file beyond a limit."""
    return FormatError(f"{where}: {found}; the limit is {limit}")
