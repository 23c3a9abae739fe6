"""Digests of large files, remembered for as long as the files stay as they are."""

import json
from contextlib import suppress
from pathlib import Path

from bears.files.digest import sha256_of
from bears.files.records import write_text

LARGE = 16 << 20
"""Bytes. What is smaller is read faster than a memory of it."""


class KnownDigests:
    """A memory of sha256 digests, by path, size, inode and the times of the last changes.

    Losing it costs time alone, so what cannot be read or written of it is passed over.

    Args:
        file: where it is kept; JSON.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def __call__(self, path: Path) -> str:
        """The sha256 of a file, in hexadecimal; read only if it has changed since the last time."""
        if path.stat().st_size < LARGE:
            return sha256_of(path)
        name, state = str(path.resolve()), _state(path)
        known = self._read()
        if name in known and known[name][:-1] == state:
            return str(known[name][-1])
        digest = sha256_of(path)
        if _state(path) == state:
            kept = {old: entry for old, entry in known.items() if Path(old).exists()}
            with suppress(OSError):
                write_text(self._file, json.dumps({**kept, name: [*state, digest]}))
        return digest

    def _read(self) -> dict[str, list[int | str]]:
        try:
            known = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return {}
        entries = known.items() if isinstance(known, dict) else ()
        return {name: entry for name, entry in entries if isinstance(entry, list) and entry}


def _state(path: Path) -> list[int | str]:
    status = path.stat()
    return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
