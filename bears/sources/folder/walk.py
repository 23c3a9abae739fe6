"""List the files below a folder, in an order that is the same everywhere, and name them."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

from bears.files.records import sha256_of


def files_below(folder: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file with the reason why it is skipped; the reason is empty if it is read.

    Hidden files are not read, nor are links to folders, since they may form a loop, nor links to
    files outside of the folder. A folder that cannot be read is yielded with that reason too.
    """
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            yield path, f"it cannot be read ({error.strerror})"
            continue
        folders = []
        for entry in entries:
            here = Path(entry.path)
            if entry.name.startswith("."):
                yield here, "hidden"
            elif entry.is_dir(follow_symlinks=False):
                folders.append(here)
            elif here.is_dir():
                yield here, "a link to a folder"
            elif leads_outside(here, folder):
                yield here, "a link to a file outside of the folder"
            else:
                yield here, ""
        waiting += reversed(folders)


def content_of(path: Path) -> str:
    """Return a digest of a file, or of the names and bytes of the files below a folder.

    It is empty if nothing is there.
    """
    if not path.is_dir():
        return sha256_of(path) if path.is_file() else ""
    digest = hashlib.sha256()
    for file, skipped in files_below(path):
        # A file that cannot be read is reported when the folder is.
        if not skipped and os.access(file, os.R_OK):
            digest.update(os.fsencode(file.relative_to(path)) + sha256_of(file).encode())
    return digest.hexdigest()


def leads_outside(path: Path, folder: Path) -> bool:
    """Return whether an existing file is read from somewhere outside of a folder by this path."""
    real = Path(os.path.realpath(path))
    return real.exists() and not real.is_relative_to(os.path.realpath(folder))
