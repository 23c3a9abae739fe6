"""Run a stage or command so that it ends with one sentence and the right exit status.

Where a signal ends it, what is open is closed, and temporary files are removed.
"""

import errno
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import NoReturn

from typing_extensions import Buffer

from bears.errors import BearsError, first_line
from bears.files.shown import complain, for_terminal

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
BUG = 70
"""The exit status of a bug, as sysexits.h has it (EX_SOFTWARE)."""
TRACEBACK = "BEARS_TRACEBACK"
"""If this variable is set, a traceback is printed before the sentence."""
OUTPUT, ERRORS = 1, 2
"""The descriptors of the standard streams."""
ROOT = Path(__file__).resolve().parents[2]
REMEDIES = {
    # numpy only reports how many values it could not write.
    None: "free some space on that disk, if it is full",
    errno.ENOSPC: "free some space on that disk",
    errno.EFBIG: "permit larger files (ulimit -f)",
    errno.EROFS: "name a place that can be written to",
    errno.EACCES: "change its permissions or owner (ls -l shows them)",
    errno.EMFILE: "permit more open files (ulimit -n)",
    errno.ENOENT: "see that it is there, and that you run this from the project's root",
}


class Terminated(KeyboardInterrupt):
    """A signal asked the program to end: like Ctrl-C, but for the exit status.

    Args:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number


@contextmanager
def raised_signals() -> Iterator[None]:
    """Raise `Terminated` on ending signals within, or KeyboardInterrupt on Ctrl-C.

    Raises:
        Terminated: what is open is then closed, and temporary files are removed.
    """

    def end(number: int, _: FrameType | None) -> NoReturn:
        raise Terminated(number)

    before = {number: signal.getsignal(number) for number in ENDING}
    if threading.current_thread() is not threading.main_thread():
        before = {}
    for number in before:
        # asyncio cancels its tasks in order only with Python's own handler of Ctrl-C.
        _answer(number, signal.default_int_handler if number == signal.SIGINT else end)
    try:
        yield
    finally:
        for number, answer in before.items():
            _answer(number, answer)


def _answer(number: int, answer: object) -> None:
    # nohup ignores SIGHUP, and a shell the SIGINT of what it runs in the background.
    if signal.getsignal(number) is not signal.SIG_IGN:
        signal.signal(number, answer)  # type: ignore[arg-type]


def ended(who: str, work: Callable[[], int | None], error_status: int = 1) -> int:
    """Run a stage or a command and return its exit status.

    The status is that of the work, or 0; ``error_status`` after an error that the user can fix,
    with a sentence on stderr; 70 after a bug; 130 after an interruption (143 after SIGTERM, 129
    after SIGHUP). If the reader of the output leaves early (`| head`), the work goes on.

    Args:
        who: the name that begins the sentence.
        work: returns its status, None for 0; raises BearsError for errors that the user can fix.
        error_status: 2 where the work itself may return 1.
    """
    _open_streams()
    error: BaseException | None = None
    own: int | None = 0
    try:
        with raised_signals():
            own = work()
    except (Exception, KeyboardInterrupt) as raised:
        error = raised
    except SystemExit as left:  # of argparse, after its help or its usage
        if left.code:
            raise
    unwritten = _flush()
    if isinstance(error, OSError | None) and not (error and error.filename):
        error = unwritten or error
    if error is None:
        return own or 0
    status, sentence = _explained(error)
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    complain(f"{who}: {sentence}")
    return error_status if status == 1 else status


class _Stream(FileIO):
    """A standard stream that ignores writes after its reader has left."""

    def write(self, data: Buffer) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if isinstance(error, BrokenPipeError) or self.fileno() == ERRORS:
                return memoryview(data).nbytes
            raise


class _Shown(TextIOWrapper):
    """A standard stream whose text cannot control a terminal."""

    def write(self, text: str, /) -> int:
        super().write(for_terminal(text))
        return len(text)


def _open_streams() -> None:
    """Replace the standard streams by ones that take any text, whatever the encoding."""
    for name, descriptor in (("stdout", OUTPUT), ("stderr", ERRORS)):
        stream = getattr(sys, name)
        if stream is None or stream is not getattr(sys, f"__{name}__"):
            continue  # It is closed, belongs to a test, or is ours already.
        buffered = BufferedWriter(_Stream(descriptor, "w", closefd=False))
        lines = name == "stderr" or stream.line_buffering or stream.write_through
        # On stderr, `complain` makes texts safe, and progress bars need their control characters.
        kind = _Shown if name == "stdout" else TextIOWrapper
        setattr(sys, name, kind(buffered, stream.encoding, "backslashreplace", None, lines))


def _flush() -> OSError | None:
    """Flush standard output; return the error if that failed, and drop what was buffered."""
    try:
        print(end="", flush=True)
    except OSError as error:
        # Python would try again when it exits, and print a traceback.
        os.dup2(os.open(os.devnull, os.O_WRONLY), OUTPUT)
        error.filename = "standard output"
        return error
    return None


def _explained(error: BaseException) -> tuple[int, str]:
    """Return the exit status and the sentence for an error."""
    match error:
        case BearsError():
            return 1, str(error)
        case KeyboardInterrupt():
            return getattr(error, "status", 130), "interrupted; what was finished is kept"
        case MemoryError():
            problem = f"there is not enough memory ({first_line(error)})"
            return 1, f"{problem}; run the same again on a larger machine"
        case RecursionError():
            return 1, f"a file that was read is nested too deeply ({_place(error)}); flatten it"
        case UnicodeError():
            return 1, f"a text is not valid Unicode ({error}; {_place(error)}); correct it"
        case OSError():
            return 1, _system(error)
    return BUG, (
        f"this is a bug in bears: {type(error).__name__}: {first_line(error)} ({_place(error)}). "
        f"Please report it with what is printed under {TRACEBACK}=1"
    )


def _system(error: OSError) -> str:
    """Return what the operating system refused, for which file, and what to do."""
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
