"""An append-only journal for work that was paid for: a killed process loses nothing finished.

A line is ``{"checksum":"…","row":…}``, where the checksum is the sha256 of the bytes of the row in
canonical JSON. A line is trusted if its checksum fits, wherever it is.
"""

import errno
import fcntl
import hashlib
import json
import os
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import IO, Any

from bears.files.lock import locked
from bears.files.records import atomic_write

LINE = re.compile(rb'\{"checksum":"([0-9a-f]{64})","row":(\{.*\})\}\n?', re.DOTALL)

JournalRow = dict[str, Any]
Append = Callable[[Mapping[str, Any]], "Future[None]"]


class Journal:
    """JSON Lines that are only ever appended to.

    Args:
        path: of the file; the first `writer` creates it and its folders.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.damaged: list[tuple[int, str]] = []

    def rows(self) -> Iterator[JournalRow]:
        """Yield the rows that the file had when this began; an absent file has none.

        Torn or corrupted lines are skipped; meanwhile ``damaged`` is filled anew with their
        (line number from 1, reason).
        """
        self.damaged = []
        try:
            stream = self.path.open("rb")
        except FileNotFoundError:
            return
        with stream:
            # While no process is in the middle of an append.
            with _locked(stream, fcntl.LOCK_SH):
                end = os.fstat(stream.fileno()).st_size
            place = 0
            for number, line in enumerate(stream, start=1):
                if place >= end:
                    return
                row = _read(line[: end - place])
                if isinstance(row, dict):
                    yield row
                else:
                    self.damaged.append((number, row))
                place += len(line)

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """Lock the journal for one process at a time; the kernel unlocks it when that one ends.

        A process that has to wait prints for which other process it waits.
        """
        make_folder(self.path.parent)
        with locked(Path(f"{self.path}.lock"), str(self.path), "fill"):
            yield

    def drop(self, unwanted: Callable[[JournalRow], bool]) -> None:
        """Remove rows for good; call it in a block of `exclusive`."""
        kept = [row for row in self.rows() if not unwanted(row)]
        with atomic_write(self.path) as stream:
            stream.writelines(map(_line, kept))

    @contextmanager
    def writer(self) -> Iterator[Append]:
        """Yield a function that takes a row and returns a future, done once the row is on disk.

        It may be called from any thread and does not block; rows keep the order of the calls. Each
        row is written, whether or not its future is awaited. All are on disk when the block ends.

        Raises:
            OSError: the journal cannot be opened or written. The futures of rows that are not on
                disk raise it, and the end of the block raises it.
            TypeError, ValueError: the function was given a row that JSON cannot hold.
        """
        group = _GroupCommit(self.path)
        try:
            yield group.append
        finally:
            group.close()
        if group.error is not None:
            raise group.error


class _GroupCommit:
    """One thread that writes everything queued at once: one write and one fsync for many rows."""

    def __init__(self, path: Path) -> None:
        self.error: Exception | None = None
        make_folder(path.parent)
        self._path, self._stream = path, path.open("ab+", buffering=0)
        sync_folder(path.parent)
        self._queued: deque[tuple[bytes, Future[None]]] = deque()
        self._pool = ThreadPoolExecutor(1, f"journal {path.name}")

    def append(self, row: Mapping[str, Any]) -> Future[None]:
        future: Future[None] = Future()
        # It cannot be canceled: the row is written even if the task that wrote it is canceled.
        future.set_running_or_notify_cancel()
        self._queued.append((_line(row), future))
        self._pool.submit(self._commit)
        return future

    def close(self) -> None:
        # The thread closes the file, since an interrupt may end the wait for it.
        with suppress(RuntimeError):
            self._pool.submit(self._stream.close)
        self._pool.shutdown()

    def _commit(self) -> None:
        batch = [self._queued.popleft() for _ in range(len(self._queued))]
        try:
            if batch and self.error is None:  # After a failure the disk may hold anything.
                _write(self._stream, b"".join(line for line, _ in batch))
                os.fsync(self._stream.fileno())
        except OSError as error:
            self.error = OSError(error.errno, error.strerror, str(self._path))
        except Exception as error:  # Otherwise the wait for these rows would never end.
            self.error = error
        for _, future in batch:
            if self.error is None:
                future.set_result(None)
            else:
                future.set_exception(self.error)


def _line(row: Mapping[str, Any]) -> bytes:
    content = _canonical(row)
    checksum = hashlib.sha256(content).hexdigest().encode()
    return b'{"checksum":"' + checksum + b'","row":' + content + b"}\n"


def _canonical(row: Mapping[str, Any]) -> bytes:
    options: dict[str, Any] = {"sort_keys": True, "separators": (",", ":"), "allow_nan": False}
    try:
        return json.dumps(dict(row), ensure_ascii=False, **options).encode("utf-8")
    except UnicodeEncodeError:  # half a surrogate pair, which models send and which was paid for
        return json.dumps(dict(row), **options).encode("utf-8")


def _read(line: bytes) -> JournalRow | str:
    """Return the row of a line, or the reason why it has none."""
    match = LINE.fullmatch(line)
    if match is None:
        ended = line.endswith(b"\n")
        return "torn or not a line of a journal" if ended else "torn: the file ends within it"
    checksum, content = match.groups()
    if hashlib.sha256(content).hexdigest().encode() != checksum:
        return "corrupted: the checksum does not fit"
    try:
        return dict(json.loads(content))
    except (ValueError, RecursionError) as error:
        return f"not valid JSON ({error})"


@contextmanager
def _locked(stream: IO[bytes], how: int) -> Iterator[None]:
    fcntl.flock(stream, how)
    try:
        yield
    finally:
        fcntl.flock(stream, fcntl.LOCK_UN)


def _write(stream: FileIO, data: bytes) -> None:
    """Append ``data`` on a new line, all of it or nothing, one process at a time."""
    with _locked(stream, fcntl.LOCK_EX):
        status = os.fstat(stream.fileno())
        if status.st_nlink == 0:
            raise OSError(errno.ESTALE, "the journal was removed while it was being written")
        if status.st_size and os.pread(stream.fileno(), 1, status.st_size - 1) != b"\n":
            data = b"\n" + data
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[stream.write(rest) :]
        except OSError:
            with suppress(OSError):
                stream.truncate(status.st_size)
            raise


def make_folder(folder: Path) -> None:
    """Make a folder and its parents so that they survive a power failure."""
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Wait until the names of a folder's files would survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
