"""Progress of a long step: a bar in a terminal, a line every 30 seconds in a log."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from tqdm import tqdm

from bears.files.shown import complain

FIRST_S, EVERY_S = 10.0, 30.0
_shown: list[Any] = []


class Progress(tqdm):  # type: ignore[type-arg]
    """A bar with the time left. If stderr is not a terminal, `reported` prints it as a line."""

    monitor_interval = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        self.closed, self._drawn = False, sys.stderr.isatty()
        super().__init__(*args, **options)
        _shown.append(self)

    def display(self, *args: Any, **options: Any) -> Any:
        """Draw the bar, in a terminal."""
        return super().display(*args, **options) if self._drawn else None

    def close(self) -> None:
        """End the bar."""
        # At the exit of Python a bar outlives the list.
        if _shown and self in _shown:
            _shown.remove(self)
        if self._drawn:
            super().close()
        self.disable = True


@contextmanager
def reported(who: str) -> Iterator[None]:
    """Print the progress of a block after ten seconds, and then every 30.

    In a terminal, only a step without a bar needs that.
    """
    ended, started = threading.Event(), monotonic()

    def report() -> None:
        wait = FIRST_S
        while not ended.wait(wait):
            bar = next((bar for bar in _shown if bar.n or bar.total), None)
            if bar is None:
                complain(f"{who}: running for {monotonic() - started:.0f} s")
            elif not sys.stderr.isatty():
                complain(f"{who}: {_line(bar)}")
            wait = EVERY_S

    thread = threading.Thread(target=report, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _line(bar: Any) -> str:
    values = {**bar.format_dict, "ncols": 0, "bar_format": None}
    return str(tqdm.format_meter(**values)).strip()
