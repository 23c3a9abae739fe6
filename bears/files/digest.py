"""Digests that link a result to the files that it was made from."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.files.records import read_json, to_line


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_of(value: Mapping[str, Any]) -> str:
    """Return the sha256 of plain values as one line of canonical JSON, in hexadecimal."""
    return hashlib.sha256(to_line(value).encode("utf-8")).hexdigest()


def digest_files(paths: Sequence[Path]) -> dict[str, str]:
    """Return the name of each file, to the sha256 of its bytes in hexadecimal."""
    return {path.name: sha256_of(path) for path in paths}


def check_digest(path: Path, record: Path) -> None:
    """Refuse a file whose digest is not the one in ``record``.

    Raises:
        FormatError: the digests differ, or none is recorded.
    """
    known = read_json(record)
    expected = known.get(path.name) if isinstance(known, dict) else None
    if (found := sha256_of(path)) != expected:
        raise FormatError(
            f"{path} has sha256 {found}, but {record} has {expected}; "
            "run `dvc repro verify` on the present file first"
        )
