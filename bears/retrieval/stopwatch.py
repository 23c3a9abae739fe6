"""Time spent in each stage of a search."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter


class Stopwatch:
    """Add up seconds by stage: ``with stopwatch("encode"): …``."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        started = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + perf_counter() - started
