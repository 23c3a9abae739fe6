"""Chunks of a fixed number of characters that overlap."""

from dataclasses import dataclass

from bears.errors import ConfigurationError
from bears.retrieval.chunking import Range
from bears.types import Positive


@dataclass(frozen=True, slots=True)
class Characters:
    """Windows of ``size`` characters, each with the last ``overlap`` of the one before.

    The last window may be shorter. It is never a part of the one before it.

    Args:
        size: characters in a chunk.
        overlap: characters that two neighbors share; less than ``size``.

    Raises:
        ConfigurationError: the overlap is not between 0 and the size.
    """

    size: Positive
    overlap: int

    def __post_init__(self) -> None:
        check_overlap(self.size, self.overlap)

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``."""
        step = self.size - self.overlap
        starts = range(0, max(len(text) - self.overlap, 1), step)
        return [(start, min(start + self.size, len(text))) for start in starts]


def check_overlap(size: int, overlap: int) -> None:
    """Raise ConfigurationError unless chunks of ``size`` can share ``overlap``."""
    if not 0 <= overlap < size:
        raise ConfigurationError(
            f"chunking.size is {size} and chunking.overlap is {overlap}; expected a positive "
            "size and an overlap from 0 to below the size"
        )
