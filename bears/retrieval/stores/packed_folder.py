"""A folder of preallocated files as one file, without their holes, and back.

The file is a zip without compression. An entry ``name@offset`` is a part of the file ``name`` that
holds data; an empty one at the end of each file says how long it is.
"""

import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from bears.files.records import atomic_write

CHUNK = 1 << 20
HOLES = 1 << 30
"""Bytes that all files may be longer than what is packed of them: Qdrant's, which are preallocated,
are by 0.15 GB."""


def pack(folder: Path, file: Path) -> None:
    """Write every file below ``folder`` into ``file``."""
    with atomic_write(file) as stream, zipfile.ZipFile(stream, "w") as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                name, size = path.relative_to(folder).as_posix(), path.stat().st_size
                with path.open("rb") as source:
                    for start, end in [*_extents(source, size), (size, size)]:
                        with packed.open(f"{name}@{start}", "w", force_zip64=True) as target:
                            source.seek(start)
                            _copy(source, target, end - start)


def unpack(file: Path, folder: Path) -> None:
    """Restore below ``folder`` what `pack` wrote.

    Raises:
        zipfile.BadZipFile: the file is damaged, or would write outside of ``folder``.
    """
    with zipfile.ZipFile(file) as packed:
        entries = packed.infolist()
        _check(entries, file.stat().st_size, folder)
        for entry in entries:
            path, offset = _place(entry, folder)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
            with packed.open(entry) as source, path.open("r+b") as target:
                if not entry.file_size:
                    target.truncate(offset)
                target.seek(offset)
                shutil.copyfileobj(source, target, CHUNK)


def _check(entries: Sequence[zipfile.ZipInfo], size: int, folder: Path) -> None:
    """Refuse a zip of ``size`` bytes that would write elsewhere, or more than it holds."""
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
        raise zipfile.BadZipFile("a part is compressed, and `index` compresses none")
    ends: dict[Path, int] = {}
    for entry in entries:
        path, offset = _place(entry, folder)
        ends[path] = max(ends.get(path, 0), offset + entry.file_size)
    held = sum(entry.file_size for entry in entries)
    if held > size or sum(ends.values()) > held + HOLES:
        raise zipfile.BadZipFile("its parts are larger than `index` makes them")


def _place(entry: zipfile.ZipInfo, folder: Path) -> tuple[Path, int]:
    """Where a part belongs: its file, and the byte at which it begins."""
    name, _, offset = entry.filename.rpartition("@")
    path = folder / name
    if not name or not path.resolve().is_relative_to(folder.resolve()):
        raise zipfile.BadZipFile(f"{entry.filename!r} leads out of the folder")
    if not (offset.isascii() and offset.isdigit() and len(offset) < 20):
        raise zipfile.BadZipFile(f"{entry.filename!r} does not say where it begins")
    return path, int(offset)


def _extents(source: IO[bytes], size: int) -> Iterator[tuple[int, int]]:
    """Where a file holds data; all of it where the system does not tell."""
    if not hasattr(os, "SEEK_DATA"):
        yield 0, size
        return
    end = 0
    while end < size:
        try:
            start = os.lseek(source.fileno(), end, os.SEEK_DATA)
        except OSError:  # Nothing but a hole is left.
            return
        end = os.lseek(source.fileno(), start, os.SEEK_HOLE)
        yield start, end


def _copy(source: IO[bytes], target: IO[bytes], length: int) -> None:
    while length and (chunk := source.read(min(CHUNK, length))):
        target.write(chunk)
        length -= len(chunk)
