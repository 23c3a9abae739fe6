"""Progress of a long step: a bar in a terminal, the same text now and then in a log."""

import sys
from typing import Any

from tqdm import tqdm

LOGGED = {"delay": 10, "mininterval": 30, "miniters": 1}
"""In a log: after ten seconds, and then every 30."""


class Progress(tqdm):  # type: ignore[type-arg]
    """A bar with the time left."""

    monitor_interval = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **{**({} if sys.stderr.isatty() else LOGGED), **options})
