"""Trust on first use: commits and digests on the hub that no configuration vouches for.

A commit's hash does not bind what the hub serves for its files. So what came first is written down,
outside of git and DVC, and everything later is held against it.
"""

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from bears.errors import SourceError
from bears.formats.exclusive import exclusive
from bears.formats.records import read_json, write_json

RECORD = "fetched.json"
_SHAPE = TypeAdapter(dict[str, str])


def first_digest(folder: Path, address: str, found: str) -> tuple[str, Path]:
    """The digest that a file had when it was first fetched: ``found`` if that is now.

    Args:
        folder: keeps the record, an object of addresses and digests.
        address: ``owner/name@revision/path``.
        found: sha256 of the file as it was fetched now, in hexadecimal.

    Returns:
        The digest, and the record that has it.

    Raises:
        SourceError: the record cannot be read.
    """
    return _first(folder, address, lambda: found), folder / RECORD


def first_revision(folder: Path, hub: str, look: Callable[[], str]) -> str:
    """The commit that a dataset was at when it was first asked for: what ``look`` says if now.

    Raises:
        SourceError: the record cannot be read, or as ``look``.
    """
    return _first(folder, hub, look)


def _first(folder: Path, address: str, look: Callable[[], str]) -> str:
    record = folder / RECORD
    with exclusive(record):
        try:
            known = _SHAPE.validate_python(read_json(record)) if record.exists() else {}
        except ValueError as error:
            raise SourceError(
                f"{record} is no object of addresses and digests ({error}); remove it, and what "
                "the hub gives next is trusted"
            ) from None
        if address not in known:
            known[address] = look()
            write_json(record, dict(sorted(known.items())))
    return known[address]
