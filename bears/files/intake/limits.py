"""How much one file may ask of us. Each bound is far beyond what a benchmark needs."""

from bears.errors import FormatError

WHOLE_BYTES = 512 * 1024 * 1024
"""Of a file or record that is held in memory whole."""
TEXT_BYTES = 50_000_000
"""Of one text: a string of streamed JSON, a cell of a table; and of a YAML file."""
DEPTH = 100
"""Of lists and objects within one another; jiter, which parses single values, allows 200."""
RATIO = 200
"""Bytes that one byte of a packed file may become, beyond the first 64 MiB."""


def beyond(where: str, found: str, limit: int) -> FormatError:
    """Return the refusal of what is beyond a limit."""
    return FormatError(f"{where}: {found}; the limit is {limit}")
