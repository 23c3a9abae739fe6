"""Counting the terms of many texts at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import cast

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.analysis import Analyzer

CACHED = 16 << 20
"""Characters of words whose terms are remembered."""

FEW = 16 << 20
"""Characters of texts that are split before pyarrow would be imported."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Counted:
    """How often each term stands in each of some texts, ordered by term, then by text.

    Args:
        terms: number of the term, by first appearance.
        texts: position of the text.
        counts: at least 1.
        lengths: terms of each text, shape (texts,).
    """

    terms: Integers
    texts: Integers
    counts: Integers
    lengths: Integers


@dataclass(frozen=True, slots=True)
class Words:
    """What white space parts in some texts; it need not part all that it could.

    Args:
        distinct: each of them once.
        places: its place in ``distinct``, for each as it comes.
        ends: where each text ends among ``places``, shape (texts,).
    """

    distinct: list[str]
    places: Integers
    ends: Integers


class Vocabulary:
    """Numbers terms by their first appearance."""

    def __init__(self, analyze: Analyzer) -> None:
        self._analyze = analyze
        self._numbers: dict[str, int] = {}
        self._cache: dict[str, tuple[int, ...]] = {}
        self._cached = 0

    @property
    def terms(self) -> list[str]:
        """Every term so far, by number."""
        return list(self._numbers)

    def count(self, words: Words) -> Counted:
        """Count the terms of some texts."""
        terms, ends = self._terms(words)
        lengths = np.diff(ends, prepend=0)
        # Sorting one integer that holds both is several times faster than sorting by two keys.
        both = terms << 32
        both |= np.repeat(np.arange(len(ends)), lengths)
        both.sort()
        firsts = np.flatnonzero(np.diff(both, prepend=-1))
        counts = np.diff(firsts, append=len(both))
        return Counted(both[firsts] >> 32, both[firsts] & 0xFFFFFFFF, counts, lengths)

    def _terms(self, words: Words) -> tuple[Integers, Integers]:
        """Numbers of all terms, and where each text ends among them."""
        of_word, ends = words.places, words.ends
        each = self._remembered(words.distinct)
        flat = np.fromiter(chain.from_iterable(each), np.int64)
        if len(flat) == len(each) and all(each):
            return flat[of_word], ends
        sizes = np.fromiter(map(len, each), np.int64, len(each))
        starts = np.cumsum(sizes) - sizes
        taken = sizes[of_word]
        after = np.cumsum(taken)
        within = np.arange(after[-1] if len(after) else 0) - np.repeat(after - taken, taken)
        return (
            flat[np.repeat(starts[of_word], taken) + within],
            np.concatenate(([0], after))[ends],
        )

    def _remembered(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The numbers of each word's terms."""
        cache = self._cache
        each = list(map(cache.get, words))
        for place, numbers in enumerate(each):
            if numbers is None:
                word = words[place]
                each[place] = cache[word] = self._numbered(word)
                self._cached += len(word)
        if self._cached > CACHED:
            cache.clear()
            self._cached = 0
        return cast(list[tuple[int, ...]], each)

    def _numbered(self, word: str) -> tuple[int, ...]:
        numbers = self._numbers
        return tuple([numbers.setdefault(t, len(numbers)) for t in self._analyze(word)])


def split(texts: Sequence[str]) -> Words:
    """The words of ``texts``."""
    return _split_few(texts) if sum(map(len, texts)) < FEW else _split_many(texts)


def _split_few(texts: Sequence[str]) -> Words:
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    places: list[int] = []
    ends = []
    for text in texts:
        places.extend(map(numbers.__getitem__, text.split()))
        ends.append(len(places))
    return Words(list(numbers), np.array(places, np.int64), np.array(ends, np.int64))


def _split_many(texts: Sequence[str]) -> Words:
    """Twice as fast, and for the most part beside other threads."""
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = [text.encode() for text in texts]
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    # From and to buffers: pyarrow's own conversions import pandas, where it is, for half a second.
    array = pa.LargeStringArray.from_buffers(
        len(texts), pa.py_buffer(bounds), pa.py_buffer(b"".join(encoded))
    )
    lists = pc.ascii_split_whitespace(array)
    words = lists.flatten().dictionary_encode()
    ends = np.frombuffer(lists.buffers()[1], np.int32)[1 : len(texts) + 1]
    places = np.frombuffer(words.indices.buffers()[1], np.int32)[: len(words)]
    return Words(words.dictionary.to_pylist(), places.astype(np.int64), ends.astype(np.int64))
