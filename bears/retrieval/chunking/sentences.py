"""Chunks that end where sentences do."""

from dataclasses import dataclass
from itertools import accumulate, pairwise

from bears.language.sentences import split
from bears.retrieval.chunking import Range
from bears.types import Positive


@dataclass(frozen=True, slots=True)
class Sentences:
    """Chunks of whole sentences; together they are the text, without overlap.

    A sentence that is longer than a chunk is cut at its last pause (white space or a comma) that
    fits, or within a word if it has no pause.

    Args:
        characters: the most per chunk, blank ends not counted.
    """

    characters: Positive

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``; white space belongs to the chunk before it."""
        parts = _without_blanks(split(text, self.characters))
        return list(pairwise(accumulate(map(len, parts), initial=0)))


def _without_blanks(chunks: list[str]) -> list[str]:
    """Join each chunk of white space with a neighbor."""
    joined = [""]
    for chunk in chunks:
        if chunk.strip() and joined[-1].strip():
            joined.append(chunk)
        else:
            joined[-1] += chunk
    return joined
