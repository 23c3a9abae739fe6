"""Pieces that end where sentences do."""

from __future__ import annotations

from bears.errors import ConfigurationError
from bears.language.sentences import sentence_ends, split


class Sentences:
    """Pieces of whole sentences; together they are the text, without overlap.

    A sentence that is longer than a piece may be is cut at its last pause (white space or a
    comma) that fits, and within words only where it has none.

    Args:
        name: of the file under conf/chunking.
        characters: at most so many in a piece, blank ends not counted.
        sentences: at most so many in a piece; null: as many as fit.

    Raises:
        ConfigurationError: a bound is not positive.
    """

    def __init__(self, name: str, characters: int, sentences: int | None = None) -> None:
        for key, value in (("characters", characters), ("sentences", sentences)):
            if value is not None and value < 1:
                raise ConfigurationError(f"chunking.{key} is {value}; expected at least 1")
        self.name, self._characters, self._sentences = name, characters, sentences

    def split(self, text: str) -> list[str]:
        """The pieces of ``text``; white space belongs to the piece before it."""
        runs = [text] if self._sentences is None else _runs(text, self._sentences)
        return _without_blanks([piece for run in runs for piece in split(run, self._characters)])


def _runs(text: str, most: int) -> list[str]:
    """``text`` cut after every ``most`` sentences."""
    runs, start, before, count = [], 0, 0, 0
    for end in sorted({*sentence_ends(text), len(text)}):
        count += bool(text[before:end].strip())
        before = end
        if count == most:
            runs.append(text[start:end])
            start, count = end, 0
    return [*runs, text[start:]]


def _without_blanks(pieces: list[str]) -> list[str]:
    """A piece of white space alone says nothing, so it goes to a neighbour."""
    joined = [""]
    for piece in pieces:
        if piece.strip() and joined[-1].strip():
            joined.append(piece)
        else:
            joined[-1] += piece
    return joined
