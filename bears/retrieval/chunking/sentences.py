"""Chunks that end where sentences do."""

from bears.errors import ConfigurationError
from bears.language.sentences import sentence_ends, split


class Sentences:
    """Chunks of whole sentences; together they are the text, without overlap.

    A sentence that is longer than a chunk may be is cut at its last pause (white space or a
    comma) that fits, and within words only where it has none.

    Args:
        name: of the file under conf/chunking.
        characters: at most so many in a chunk, blank ends not counted.
        sentences: at most so many in a chunk; null: as many as fit.

    Raises:
        ConfigurationError: a bound is not positive.
    """

    def __init__(self, name: str, characters: int, sentences: int | None = None) -> None:
        for key, value in (("characters", characters), ("sentences", sentences)):
            if value is not None and value < 1:
                raise ConfigurationError(f"chunking.{key} is {value}; expected at least 1")
        self.name, self._characters, self._sentences = name, characters, sentences

    def split(self, text: str) -> list[str]:
        """The chunks of ``text``; white space belongs to the chunk before it."""
        runs = [text] if self._sentences is None else _runs(text, self._sentences)
        return _without_blanks([chunk for run in runs for chunk in split(run, self._characters)])


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


def _without_blanks(chunks: list[str]) -> list[str]:
    """A chunk of white space alone says nothing, so it goes to a neighbour."""
    joined = [""]
    for chunk in chunks:
        if chunk.strip() and joined[-1].strip():
            joined.append(chunk)
        else:
            joined[-1] += chunk
    return joined
