"""Signals that end a program: what is open is closed, and temporary files are removed."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
