"""One process at a time reads a file, changes what it holds, and writes it again."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the folder of ``path``, and so every file in it, until the block ends.

    Whoever comes second waits. The kernel releases it when the process dies, and no file is left
    behind. It does not nest: a second block on the same folder waits for the first for ever.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
