"""Files that one process writes while nobody else reads or writes them.

The kernel holds the locks (flock) and releases them however a process ends, so nothing is left
behind that a person would have to remove.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bears.errors import StageConflict
from bears.files.shown import complain

PATIENCE_S = 30.0
PAUSE_S = 0.1


@contextmanager
def locked(
    reads: Iterable[Path], writes: Iterable[Path], folder: Path, name: str
) -> Iterator[None]:
    """Hold what is read against writers, and what is written against everybody.

    A file's reader also holds its folder, since a folder is written as a whole.

    Args:
        reads, writes: files and folders, which need not exist.
        folder: where the lock files lie, the same one for all who share the paths.
        name: of the holder, for others to be told.

    Raises:
        StageConflict: another process has held one of them for `PATIENCE_S`.
    """
    written = {path.resolve() for path in writes}
    read = {place for path in reads for place in (path.resolve(), path.resolve().parent)}
    kinds = {**dict.fromkeys(read, fcntl.LOCK_SH), **dict.fromkeys(written, fcntl.LOCK_EX)}
    folder.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + PATIENCE_S
    with ExitStack() as held:
        for path in sorted(kinds):
            file = folder / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]
            # The file stays: removing it would let two processes lock two files of one name.
            lock = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
            held.callback(os.close, lock)
            _acquire(lock, kinds[path], path, deadline, name)
        yield


def _acquire(lock: int, kind: int, path: Path, deadline: float, name: str) -> None:
    told = False
    while True:
        try:
            fcntl.flock(lock, kind | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            holder, until = _holder(lock), deadline - time.monotonic()
            if until <= 0:
                raise StageConflict(
                    f"{holder} still works on {path}. Wait for it, or end it, and run again"
                ) from None
            if not told:
                complain(f"{name}: {holder} works on {path}; waiting {until:.0f} s for it")
            told = True
            time.sleep(PAUSE_S)
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()} {name}".encode(), 0)


def _holder(lock: int) -> str:
    """Who said last that it holds a lock; of several readers it may be another one."""
    pid, _, name = os.pread(lock, 200, 0).decode(errors="replace").partition(" ")
    return f"process {pid} ({name})" if pid.isdigit() else "another process"
