"""Counting the terms of many texts at once."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, compress, count

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.analysis import Analyzer
from bears.retrieval.words import Distinct, Familiar, Integers, Words, strings

REMEMBERED = 16 << 20
"""Characters of words whose terms are remembered."""

FAMILIAR = 1 << 18
"""About so many words are looked up by pyarrow: among more it is slower than a dict."""

Short = NDArray[np.int32]
"""Half the memory is more than twice as fast, where arrays are too large for the caches."""


@dataclass(frozen=True, slots=True)
class Counted:
    """The postings of some texts.

    Args:
        terms: numbers of the terms, ascending.
        sizes: how many of the texts hold each term, shape (terms,).
        texts: positions of those texts, term after term, ascending within each.
        counts: how often the term stands in the text, at least 1, as ``texts``.
        lengths: terms of each text, shape (texts,).
    """

    terms: Short
    sizes: Integers
    texts: Short
    counts: Integers
    lengths: Integers


@dataclass(frozen=True, slots=True)
class Numbered:
    """The terms of some texts.

    Args:
        terms: the number of each term as it comes.
        ends: where each text ends among ``terms``, shape (texts,).
    """

    terms: Short
    ends: Integers


class Vocabulary:
    """Numbers terms by their first appearance."""

    def __init__(self, analyze: Analyzer) -> None:
        self._analyze = analyze
        self._numbers: defaultdict[str, int] = defaultdict(count().__next__)
        self._places: defaultdict[str, int]
        self._familiar: Familiar
        self._terms: Short
        self._sizes: Integers
        self._remembered: int
        self._forget()

    @property
    def terms(self) -> list[str]:
        """Every term so far, by number."""
        return list(self._numbers)

    def number(self, words: Words) -> Numbered:
        """The terms of some texts; a word is analysed once."""
        # Each step is one call for all words: a call for each word took most of the time.
        of_distinct = self._places_of(words.distinct)
        sizes = self._sizes[of_distinct]
        firsts = (np.cumsum(self._sizes) - self._sizes)[of_distinct]
        if (sizes == 1).all():
            numbered = Numbered(self._terms[firsts].take(words.places), words.ends)
        else:
            taken = sizes.take(words.places)
            after = np.cumsum(taken)
            # Where a term stands among those of all words, less its place among those of the texts.
            shifts = np.repeat(firsts.take(words.places) - after + taken, taken)
            terms = self._terms.take(np.arange(len(shifts)) + shifts)
            numbered = Numbered(terms, np.concatenate(([0], after))[words.ends])
        if self._remembered > REMEMBERED:
            self._forget()
        return numbered

    def _places_of(self, distinct: Distinct) -> Integers:
        """Where each word stands among those remembered, which hold all of them after this."""
        if isinstance(distinct, list):
            return self._look_up(distinct)
        remembered, familiar = len(self._places), len(self._familiar)
        places, missing, unfamiliar = self._familiar.find(distinct)
        places[missing] = self._look_up(strings(unfamiliar))
        # As long as all are familiar, the unfamiliar ones are those that were learnt just now.
        if remembered == familiar < FAMILIAR:
            self._familiar.add(unfamiliar)
        return places

    def _look_up(self, words: list[str]) -> Integers:
        remembered = len(self._places)
        places = np.fromiter(map(self._places.__getitem__, words), np.int64, len(words))
        self._learn(list(compress(words, (places >= remembered).tolist())))
        return places

    def _learn(self, words: list[str]) -> None:
        analysed = list(map(self._analyze, words))
        terms = map(self._numbers.__getitem__, chain.from_iterable(analysed))
        sizes = np.fromiter(map(len, analysed), np.int64, len(words))
        self._sizes = np.concatenate((self._sizes, sizes))
        self._terms = np.concatenate((self._terms, np.fromiter(terms, np.int32, int(sizes.sum()))))
        self._remembered += sum(map(len, words))

    def _forget(self) -> None:
        self._places = defaultdict(count().__next__)
        self._familiar = Familiar()
        self._terms, self._sizes = np.zeros(0, np.int32), np.zeros(0, np.int64)
        self._remembered = 0


def counted(numbered: Numbered) -> Counted:
    """Count the terms of some texts; for the most part beside other threads."""
    lengths = np.diff(numbered.ends, prepend=0)
    # By term, and within a term in the order in which the texts come.
    order = _order(numbered.terms)
    terms = numbered.terms.take(order)
    texts = np.repeat(np.arange(len(lengths), dtype=np.int32), lengths).take(order)
    begins = changes(terms)
    firsts = np.flatnonzero(begins | changes(texts))
    counts = np.diff(firsts, append=len(terms))
    of_terms = np.flatnonzero(begins.take(firsts))
    sizes = np.diff(of_terms, append=len(firsts))
    return Counted(terms.take(firsts.take(of_terms)), sizes, texts.take(firsts), counts, lengths)


def _order(numbers: Short) -> Integers:
    """What sorts ``numbers``, equal ones as they come.

    NumPy sorts integers of 16 bits by their digits, which is many times faster than comparing.
    """
    order = np.argsort(numbers.astype(np.uint16), kind="stable")
    high = numbers >> 16
    if not high.any():
        return order
    digits = high.astype(np.min_scalar_type(high.max())).take(order)
    return order.take(np.argsort(digits, kind="stable"))


def changes(numbers: Short) -> NDArray[np.bool_]:
    """Where a number differs from the one before it; the first one does."""
    found = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=found[1:])
    return found
