"""What content is held against: digests of conf, or else what came first from the hub.

A commit's hash does not bind what the hub serves for its files. So what came first is written down,
outside of git and DVC, and everything later is held against it.
"""

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from bears.errors import SourceError
from bears.files.lock import locked_folder
from bears.files.records import read_json, write_json
from bears.sources.source import Source

RECORD = "fetched.json"
_SHAPE = TypeAdapter(dict[str, str])


def check_digest(source: Source, name: str, found: str, folder: Path, address: str = "") -> None:
    """Hold the digest of a file or a table against that of conf, or of what came first.

    Args:
        source: its ``sha256`` goes before what came first.
        name: of a file, its path; of a table ``config/split``.
        found: sha256 of what is here, in hexadecimal.
        folder: keeps the record, an object of addresses and digests.
        address: on the hub, ``owner/name@revision/name``; empty: it is not from there.

    Raises:
        SourceError: it is another one, or the record cannot be read.
    """
    pin = source.pin_of(name)
    if pin or not address:
        expected, told = source.sha256.get(pin, found), ""
    else:
        expected = first_seen(folder, address, lambda: found)
        told = f". To trust what is there now, remove its line from {folder / RECORD}"
    if found != expected:
        raise SourceError(
            f"source {source.name}: {address or pin} has sha256 {found}, expected {expected}, as "
            f"{'it had when it was first fetched' if told else 'conf says'}: the copy here was "
            f"damaged, or what is there was changed{told}"
        )


def first_seen(folder: Path, address: str, look: Callable[[], str]) -> str:
    """The commit or digest that was first seen at an address: what ``look`` says if that is now.

    Raises:
        SourceError: the record cannot be read, or as ``look``.
    """
    record = folder / RECORD
    with locked_folder(record):
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
