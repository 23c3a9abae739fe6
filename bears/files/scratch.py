"""Folders that one process works in: locked while it lives, and known to be left when it is dead.

The kernel releases the lock however a process ends, so what cannot be locked belongs to a living
one, whatever its age.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path


def temporary(prefix: str) -> tuple[Path, Callable[[], None]]:
    """A new folder in the system's temporary one, and what removes it.

    What dead processes left there under the same prefix is removed first.
    """
    for folder in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        if (remove := _held(folder)) is not None:
            remove()
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix))
        # Another process may just have taken it for one that was left.
        if (remove := _held(folder)) is not None:
            return folder, remove


def _held(folder: Path) -> Callable[[], None] | None:
    """Lock a folder for this process; gives what removes it.

    None where another process has it, or it is gone, or another user's.
    """
    file = folder / "lock"
    try:
        lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(lock), file.stat()):
            return partial(_remove, folder, lock)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(lock)
    return None


def _remove(folder: Path, lock: int) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)
