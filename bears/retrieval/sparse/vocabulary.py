"""The terms of texts: numbered by their first appearance, and counted."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.sparse.analysis import Analyzer

REMEMBERED = 16 << 20
"""Characters of words whose terms are remembered."""


class Vocabulary:
    """Numbers terms. A word is analysed once, as long as it is remembered."""

    def __init__(self, analyze: Analyzer) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = _Words(analyze, self._numbers)

    @property
    def terms(self) -> list[str]:
        """Every term so far, by number."""
        return list(self._numbers)

    def number(self, text: str) -> list[int]:
        """The numbers of a text's terms, as they come."""
        return list(chain.from_iterable(map(self._words.__getitem__, text.split())))


class _Words(dict[str, list[int]]):
    """Words to the numbers of their terms; a word that is there costs one lookup and no call."""

    def __init__(self, analyze: Analyzer, numbers: defaultdict[str, int]) -> None:
        self._analyze, self._numbers, self._characters = analyze, numbers, 0

    def __missing__(self, word: str) -> list[int]:
        if self._characters > REMEMBERED:
            self.clear()
            self._characters = 0
        self._characters += len(word)
        numbers = self[word] = [self._numbers[term] for term in self._analyze(word)]
        return numbers


@dataclass(frozen=True, slots=True)
class Counts:
    """The postings of some texts, by term and within a term by text.

    Args:
        terms: of each posting, shape (postings,), ascending.
        texts: position of the text that holds the term, ascending within a term.
        counts: how often it does, at least 1.
        lengths: terms of each text, shape (texts,).
    """

    terms: NDArray[np.int64]
    texts: NDArray[np.int64]
    counts: NDArray[np.int64]
    lengths: NDArray[np.int64]


def count_terms(numbered: Sequence[list[int]]) -> Counts:
    """Count the terms of texts, as `Vocabulary.number` gives them."""
    lengths = np.fromiter(map(len, numbered), np.int64, len(numbered))
    terms = np.fromiter(chain.from_iterable(numbered), np.int64, int(lengths.sum()))
    # Term and text in one number: sorting those is several times faster than by two keys.
    pairs = terms << 32 | np.repeat(np.arange(len(lengths)), lengths)
    pairs.sort()
    firsts = np.flatnonzero(changes(pairs))
    counts = np.diff(firsts, append=len(pairs))
    pairs = pairs[firsts]
    return Counts(pairs >> 32, pairs & 0xFFFFFFFF, counts, lengths)


def changes(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a number differs from the one before it; the first one does."""
    found = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found
