"""The terms of texts: numbered by their first appearance, and counted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.sparse.terms import Analyzer

Numbers = NDArray[np.int64]
REMEMBERED, LONGEST = 16 << 20, 64
"""Characters of words whose terms are remembered, and of the longest such word: a longer one is a
sentence of a script without spaces, which does not come again."""


class Vocabulary:
    """Numbers terms. A word is analyzed once, as long as it is remembered."""

    def __init__(self, analyze: Analyzer) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = _Words(analyze, self._numbers)

    @property
    def terms(self) -> list[str]:
        """Return every term so far, by number."""
        return list(self._numbers)

    def count(self, texts: Sequence[str]) -> "Counts":
        """Count the terms of texts."""
        numbered = [
            list(chain.from_iterable(map(self._words.__getitem__, text.split()))) for text in texts
        ]
        lengths = np.fromiter(map(len, numbered), np.int64, len(texts))
        terms = np.fromiter(chain.from_iterable(numbered), np.int64, int(lengths.sum()))
        # Term and text in one number: sorting those is several times faster than by two keys.
        pairs = terms << 32 | np.arange(len(texts)).repeat(lengths)
        pairs.sort()
        firsts = np.flatnonzero(changes(pairs))
        counts = np.diff(firsts, append=len(pairs))
        pairs = pairs[firsts]
        return Counts(pairs >> 32, pairs & 0xFFFFFFFF, counts, lengths)


class _Words(dict[str, list[int]]):
    """Words to the numbers of their terms; a known word costs one lookup and no call."""

    def __init__(self, analyze: Analyzer, numbers: defaultdict[str, int]) -> None:
        self._analyze, self._numbers, self._characters = analyze, numbers, 0

    def __missing__(self, word: str) -> list[int]:
        if self._characters > REMEMBERED:
            self.clear()
            self._characters = 0
        numbers = [self._numbers[term] for term in self._analyze(word)]
        if len(word) <= LONGEST:
            self._characters += len(word)
            self[word] = numbers
        return numbers


@dataclass(frozen=True, slots=True)
class Counts:
    """The postings of some texts, by term and within a term by text.

    Args:
        terms: of each posting, shape (postings,), ascending.
        texts: position of the text that holds the term, ascending within a term.
        counts: how often the text holds the term, at least 1.
        lengths: terms of each text, shape (texts,).
    """

    terms: Numbers
    texts: Numbers
    counts: Numbers
    lengths: Numbers


def changes(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Return where a number differs from the one before it; the first one always does."""
    changed = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=changed[1:])
    return changed
