"""The edge of a stage or a command: what ends it becomes one sentence and a true exit status."""

import errno
import os
import sys
import traceback
from collections.abc import Callable
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path

from typing_extensions import Buffer

from bears.errors import BearsError, first_line
from bears.files.shown import complain, for_terminal
from bears.signals import raised_signals

BUG = 70
"""The exit status of a bug, as sysexits.h has it (EX_SOFTWARE)."""

TRACEBACK = "BEARS_TRACEBACK"
"""Set to anything, a traceback is printed before the sentence."""

OUTPUT, ERRORS = 1, 2
"""The descriptors of the standard streams."""
ROOT = Path(__file__).resolve().parents[2]

REMEDIES = {
    # numpy says only how many values it could not write.
    None: "free some space on that disk, if it is full",
    errno.ENOSPC: "free some space on that disk",
    errno.EFBIG: "permit larger files (ulimit -f)",
    errno.EROFS: "name a place that can be written to",
    errno.EACCES: "change its permissions or owner (ls -l shows them)",
    errno.EMFILE: "permit more open files (ulimit -n)",
    errno.ENOENT: "see that it is there, and that you run this from the project's root",
}


def ended(who: str, work: Callable[[], None]) -> int:
    """Do the work of a stage or a command; its exit status.

    0: done; 1: something that can be mended, with a sentence on stderr; 70: a bug; 130:
    interrupted (143 by SIGTERM, 129 by SIGHUP). A reader of the output that leaves early (`| head`)
    changes nothing.

    Args:
        who: what the sentence begins with.
        work: raises BearsError for what can be mended.
    """
    _open_streams()
    error: BaseException | None = None
    try:
        with raised_signals():
            work()
    except (Exception, KeyboardInterrupt) as raised:
        error = raised
    except SystemExit as left:  # of argparse, after its help or its usage
        if left.code:
            raise
    unwritten = _flush()
    if isinstance(error, OSError | None) and not (error and error.filename):
        error = unwritten or error
    if error is None:
        return 0
    status, sentence = _told(error)
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    complain(f"{who}: {sentence}")
    return status


class _Stream(FileIO):
    """A standard stream. When its reader leaves, the work goes on to its true exit status."""

    def write(self, data: Buffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if isinstance(error, BrokenPipeError) or self.fileno() == ERRORS:
                return memoryview(data).nbytes
            raise


class _Shown(TextIOWrapper):
    """A standard stream whose text acts in no terminal."""

    def write(self, text: str, /) -> int:
        super().write(for_terminal(text))
        return len(text)


def _open_streams() -> None:
    """Standard streams that take any text, whatever the terminal's encoding."""
    if sys.stdin is None:
        # Where one was closed (`>&-`), the next file that is opened would take its place.
        os.open(os.devnull, os.O_RDONLY)
    for name, descriptor in (("stdout", OUTPUT), ("stderr", ERRORS)):
        stream = getattr(sys, name)
        if stream is None:
            os.open(os.devnull, os.O_WRONLY)
        elif stream is not getattr(sys, f"__{name}__"):
            continue  # It is a test's, or ours already.
        buffered = BufferedWriter(_Stream(descriptor, "w", closefd=False))
        encoding = stream.encoding if stream else "utf-8"
        lines = name == "stderr" or not stream or stream.line_buffering or stream.write_through
        # What goes to stderr is shown by `complain`: the progress of others needs its controls.
        kind = _Shown if name == "stdout" else TextIOWrapper
        setattr(sys, name, kind(buffered, encoding, "backslashreplace", None, lines))


def _flush() -> OSError | None:
    """Print what is still buffered; why that failed. It is then dropped."""
    try:
        sys.stdout.flush()
    except OSError as error:
        # Python would try again when it exits, and print a traceback of its own.
        os.dup2(os.open(os.devnull, os.O_WRONLY), OUTPUT)
        error.filename = "standard output"
        return error
    return None


def _told(error: BaseException) -> tuple[int, str]:
    """Return the exit status and the sentence."""
    match error:
        case BearsError():
            return 1, str(error)
        case KeyboardInterrupt():
            return getattr(error, "status", 130), "interrupted; what was finished is kept"
        case MemoryError():
            told = f"there is not enough memory ({first_line(error)})"
            return 1, f"{told}; run the same again where there is more of it"
        case RecursionError():
            return 1, f"something that was read is nested too deeply ({_place(error)}); flatten it"
        case UnicodeError():
            return 1, f"a text is not valid Unicode ({error}; {_place(error)}); mend it"
        case OSError():
            return 1, _system(error)
    return BUG, (
        f"this is a bug in bears: {type(error).__name__}: {first_line(error)} ({_place(error)}). "
        f"Please report it with what is printed under {TRACEBACK}=1"
    )


def _system(error: OSError) -> str:
    """Return what the operating system refuses, of which file, and what to do."""
    where = f"{error.filename}: " if error.filename else ""
    remedy = REMEDIES.get(error.errno)
    then = f"; {remedy}, then run the same again" if remedy else ""
    return f"{where}{(error.strerror or first_line(error)).lower()}{then}"


def _place(error: BaseException) -> str:
    """Return the innermost line of ours that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    rooms = (str(ROOT / "bears"), str(ROOT / "stages"))
    ours = [frame for frame in frames if frame.filename.startswith(rooms)]
    last = (ours or frames)[-1]
    return f"{last.filename.removeprefix(f'{ROOT}/')}, line {last.lineno}"
