"""Locks between processes, which the kernel unlocks however a process ends."""

import fcntl
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bears.errors import StageConflict
from bears.files.shown import complain

PAUSE_S = 0.1


@contextmanager
def locked(
    place: Path, what: str, who: str = "", shared: bool = False, patience_s: float = math.inf
) -> Iterator[None]:
    """Hold a lock until the block ends. It does not nest.

    Args:
        place: a folder, or a file that is created if it is absent. A file also names the holder of
            the lock. It is never removed: two processes could then lock two files of one name.
        what: what the lock protects, for messages.
        who: the holder, for messages.
        shared: allow others to hold it at the same time, if theirs is shared too.
        patience_s: how long to wait.

    Raises:
        StageConflict: another process has held it for ``patience_s``.
    """
    is_file = not place.is_dir()
    lock = os.open(place, os.O_RDWR | os.O_CREAT if is_file else os.O_RDONLY, 0o644)
    try:
        _acquire(lock, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, what, who, patience_s)
        if is_file:
            os.ftruncate(lock, 0)
            os.pwrite(lock, f"process {os.getpid()} ({who})".encode(), 0)
        yield
    finally:
        os.close(lock)


def _acquire(lock: int, kind: int, what: str, who: str, patience_s: float) -> None:
    deadline, warned = time.monotonic() + patience_s, False
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = _holder(lock)
        if time.monotonic() >= deadline:
            raise StageConflict(
                f"{holder} is still working on {what}. Wait for it, or end it, and run again"
            )
        if not warned:
            complain(f"{who or 'bears'}: {holder} works on {what}; waiting for it")
        warned = True
        time.sleep(PAUSE_S)


def _holder(lock: int) -> str:
    """Return the process that wrote its name into the lock last; readers share a lock."""
    try:
        return os.pread(lock, 200, 0).decode(errors="replace") or "another process"
    except IsADirectoryError:
        return "another process"


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Hold the folder of ``path``, and so every file in it, while a file is read and rewritten."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with locked(path.parent, str(path)):
        yield
