"""The living processes of a checkout."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any


def at_work(root: Path) -> Iterator[Any]:
    """Every process whose current folder is within the checkout, without this one."""
    import psutil

    for process in psutil.process_iter():
        try:
            inside = Path(process.cwd()).is_relative_to(root.resolve())
        except (psutil.Error, OSError):
            continue  # It has just ended, or is another user's.
        if inside and process.pid != os.getpid():
            yield process


def words_of(process: Any) -> list[str]:
    """The words of its command; none where it has ended."""
    import psutil

    try:
        return list(process.cmdline())
    except (psutil.Error, OSError):
        return []


def runs(process: Any, program: str) -> bool:
    """Whether it is this program, also as a script of an interpreter."""
    return any(Path(word).name == program for word in words_of(process)[:3])


def named(pid: int) -> str:
    """A living process in words; empty where there is none of this number."""
    import psutil

    try:
        return f"{pid}: {' '.join(words_of(psutil.Process(pid)))[:100]}"
    except psutil.NoSuchProcess:
        return ""


@cache
def open_files() -> dict[str, int]:
    """Every file that a process holds open or mapped, and one that does, as far as one may see."""
    import psutil

    held = {}
    for process in psutil.process_iter():
        try:
            paths = [file.path for file in process.open_files()]
            paths += [mapped.path for mapped in process.memory_maps()]
        except (psutil.Error, OSError, AttributeError):
            continue
        held.update(dict.fromkeys(paths, process.pid))
    return held


def holder(path: Path) -> str:
    """A living process that holds a file, or a file of a folder, in words; empty if none does."""
    below = f"{path.resolve()}/"
    for name, pid in open_files().items():
        if name == below[:-1] or name.startswith(below):
            return named(pid)
    return ""
