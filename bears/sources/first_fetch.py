"""Check files against the digests of conf, or against what came first from the hub.

A commit's hash does not bind what the hub serves for its files. So the digest of what came first is
recorded, outside of git and DVC, and everything later is compared with it.
"""

from collections.abc import Callable
from pathlib import Path

from pydantic import TypeAdapter

from bears.config.shape import Source
from bears.errors import SourceError
from bears.files.lock import locked_folder
from bears.files.records import read_json, sha256_of, write_json
from bears.layout import FETCHED

RECORD = FETCHED.name
_SHAPE = TypeAdapter(dict[str, str])


def check_file(source: Source, path: Path, record: Path, address: str = "") -> None:
    """Compare the digest of a file with that of conf, or else with what came first.

    Args:
        source: its ``sha256`` goes before what came first.
        path: the file. If it is from the hub and wrong, it is removed.
        record: the folder of the record, an object of addresses and digests.
        address: on the hub, ``owner/name@revision/path``; empty: it is not from there.

    Raises:
        SourceError: the digest differs, or the record cannot be read.
    """
    found, pin = sha256_of(path), source.pin_of(path)
    trust, became = "", "left where it is"
    if pin or not address:
        expected, known = source.sha256.get(pin, found), "conf says"
    else:
        expected, known = first_seen(record, address, lambda: found), "it had when first fetched"
        trust = f" To trust what is there now, remove its line from {record / RECORD}."
    if found == expected:
        return
    if address:
        # The file that its link in the hub's cache points to, too.
        path.resolve().unlink()
        path.unlink(missing_ok=True)
        became = "removed, so that the next run fetches it again"
    raise SourceError(
        f"source {source.name}: {address or pin} has sha256 {found}, expected {expected}, as "
        f"{known}: the copy here was damaged, or the original has changed.{trust} The file is "
        f"{became}"
    )


def first_seen(folder: Path, address: str, look: Callable[[], str]) -> str:
    """Return the commit or digest that was first seen at an address, which ``look`` gives if new.

    Raises:
        SourceError: the record cannot be read, or ``look`` raises it.
    """
    record = folder / RECORD
    with locked_folder(record):
        try:
            known = _SHAPE.validate_python(read_json(record)) if record.exists() else {}
        except ValueError as error:
            raise SourceError(
                f"{record} is not an object of addresses and digests ({error}); remove it, and "
                "what the hub gives next is trusted"
            ) from None
        if address not in known:
            known[address] = look()
            write_json(record, dict(sorted(known.items())))
    return known[address]
