"""The terms of texts: numbered by their first appearance, and counted."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.parts import parts
from bears.retrieval.sparse.analysis import Analyzer

Numbers = NDArray[np.int64]
TOGETHER = 2 << 20
"""Characters that are counted together; memory is set by this and by the vocabulary."""
REMEMBERED, LONGEST = 16 << 20, 64
"""Characters of words whose terms are remembered, and of one of them: a longer one is a sentence of
a script without spaces, which does not come again."""
BOUNDARY = re.compile(r"[\s。]")
"""No analyzer makes a term of these, or one that goes across them."""


class Vocabulary:
    """Numbers terms. A word is analysed once, as long as it is remembered."""

    def __init__(self, analyze: Analyzer) -> None:
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._words = _Words(analyze, self._numbers)

    @property
    def terms(self) -> list[str]:
        """Every term so far, by number."""
        return list(self._numbers)

    def count(self, texts: Sequence[str]) -> "Counts":
        """Count the terms of texts; memory follows `TOGETHER`, not the longest text."""
        lengths = np.zeros(len(texts), np.int64)
        found = []
        for some in _together(texts):
            numbered = [self._number(part) for _, part in some]
            owners = np.fromiter((text for text, _ in some), np.int64, len(some))
            sizes = np.fromiter(map(len, numbered), np.int64, len(some))
            np.add.at(lengths, owners, sizes)
            terms = np.fromiter(chain.from_iterable(numbered), np.int64, int(sizes.sum()))
            # Term and text in one number: sorting those is several times faster than by two keys.
            pairs = terms << 32 | np.repeat(owners, sizes)
            pairs.sort()
            found.append(_summed(pairs))
        pairs, counts = found[0] if len(found) == 1 else _merged(found)
        return Counts(pairs >> 32, pairs & 0xFFFFFFFF, counts, lengths)

    def _number(self, text: str) -> list[int]:
        """The numbers of a text's terms, as they come."""
        return list(chain.from_iterable(map(self._words.__getitem__, text.split())))


def _together(texts: Sequence[str]) -> Iterator[list[tuple[int, str]]]:
    """Parts of about `TOGETHER` characters in all, each with the number of its text."""
    some: list[tuple[int, str]] = []
    characters = 0
    for number, text in enumerate(texts):
        for part in parts(text, BOUNDARY):
            some.append((number, part))
            characters += len(part)
            if characters > TOGETHER:
                yield some
                some, characters = [], 0
    if some:
        yield some


class _Words(dict[str, list[int]]):
    """Words to the numbers of their terms; a word that is there costs one lookup and no call."""

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
        counts: how often it does, at least 1.
        lengths: terms of each text, shape (texts,).
    """

    terms: Numbers
    texts: Numbers
    counts: Numbers
    lengths: Numbers


def _summed(pairs: Numbers) -> tuple[Numbers, Numbers]:
    """Each of some ascending numbers once, and how often it is there."""
    firsts = np.flatnonzero(changes(pairs))
    return pairs[firsts], np.diff(firsts, append=len(pairs))


def _merged(found: Sequence[tuple[Numbers, Numbers]]) -> tuple[Numbers, Numbers]:
    """Several of what `_summed` gives as one."""
    pairs, counts = (np.concatenate(some) for some in zip(*found, strict=True))
    order = np.argsort(pairs, kind="stable")
    pairs = pairs[order]
    firsts = np.flatnonzero(changes(pairs))
    return pairs[firsts], np.add.reduceat(counts[order], firsts)


def changes(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a number differs from the one before it; the first one does."""
    found = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found
