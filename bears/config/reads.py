"""The files of a project that its own functions read while they run, such as a prompt.

An edit of one of them changes the function, although its code stays the same.
"""

import os
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import source_from_cache
from pathlib import Path
from typing import Any

from bears.config import read_mapping, write_yaml
from bears.config.typed import parse
from bears.files.records import sha256_of
from bears.layout import READS

_recording: list[set[str]] = []


@contextmanager
def recorded(found: set[str]) -> Iterator[None]:
    """Add the files of the working directory that are read meanwhile, in any thread, to a set."""
    _hook()
    _recording.append(found)
    try:
        yield
    finally:
        _recording.remove(found)


@cache
def _hook() -> None:
    # Python has no way to remove one.
    sys.addaudithook(_audit)


def _audit(event: str, details: tuple[Any, ...]) -> None:
    if not _recording or event != "open" or isinstance(details[0], int):
        return
    if details[2] & (os.O_WRONLY | os.O_RDWR):
        return
    path = Path(os.fsdecode(details[0])).absolute()
    # Compiled modules are read in place of their source.
    path = Path(source_from_cache(path)) if path.suffix == ".pyc" else path
    name = os.path.relpath(path)
    # What begins with a dot is ours, git's, or another environment's.
    if not name.startswith(".") and path.is_file():
        for found in _recording:
            found.add(name)


def reads_of(function: str, project: Path) -> list[tuple[str, str]]:
    """Return the files that a function read when it last ran, with their sha256 now."""
    paths = _known(project / READS).get(function, ())
    return [(p, sha256_of(project / p) if (project / p).is_file() else "") for p in paths]


def remember(function: str, found: Collection[str]) -> None:
    """Add files to those that a function reads."""
    known = _known(READS)
    all_of_it = {**known, function: [*known.get(function, ()), *found]}
    write_yaml(READS, {name: sorted(set(paths)) for name, paths in all_of_it.items()})


def _known(path: Path) -> dict[str, list[str]]:
    return parse(dict[str, list[str]], read_mapping(path), str(path))
