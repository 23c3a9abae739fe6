"""Splitting many texts into words, and finding words that were seen before."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FEW = 1 << 20
"""Characters of texts that are split before pyarrow would be imported."""

Integers = NDArray[np.int64]
Strings: TypeAlias = Any
"""A pyarrow array. Its own conversions import pandas, where it is, for half a second."""

Distinct: TypeAlias = list[str] | Strings


@dataclass(frozen=True, slots=True)
class Words:
    """What white space parts in some texts; it need not part all that it could.

    Args:
        distinct: each of them once; a pyarrow array where pyarrow found them.
        places: its place in ``distinct``, for each as it comes.
        ends: where each text ends among ``places``, shape (texts,).
    """

    distinct: Distinct
    places: Integers
    ends: Integers


class Familiar:
    """Words with their places, looked up by pyarrow: without a string for each, beside threads."""

    def __init__(self) -> None:
        self._words: Strings | None = None

    def __len__(self) -> int:
        return 0 if self._words is None else len(self._words)

    def find(self, words: Strings) -> tuple[Integers, NDArray[np.bool_], Strings]:
        """The place of each word, which of them have none (theirs is any), and those."""
        import pyarrow.compute as pc

        known = words.slice(0, 0) if self._words is None else self._words
        found = pc.index_in(words, value_set=known)
        missing = found.is_null()
        return _integers(found), _booleans(missing), words.filter(missing)

    def add(self, words: Strings) -> None:
        """Give further words the next places."""
        import pyarrow as pa

        self._words = words if self._words is None else pa.concat_arrays([self._words, words])


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

    encoded = [text.encode(errors="surrogatepass") for text in texts]
    bounds = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    # Offsets of 32 bits are a good deal faster, where they reach, for familiar words besides.
    short = bounds[-1] < 1 << 30
    kind, offset = (pa.StringArray, "i4") if short else (pa.LargeStringArray, "i8")
    array = kind.from_buffers(
        len(texts), pa.py_buffer(bounds.astype(offset)), pa.py_buffer(b"".join(encoded))
    )
    lists = pc.ascii_split_whitespace(array)
    words = lists.flatten().dictionary_encode()
    ends = np.frombuffer(lists.buffers()[1], np.int32)[1 : len(texts) + 1]
    # What is looked up together has to be of one type.
    distinct = words.dictionary if short else strings(words.dictionary)
    return Words(distinct, _integers(words.indices), ends.astype(np.int64))


def strings(array: Strings) -> list[str]:
    """Strings without line ends, several times as fast as ``to_pylist``."""
    import pyarrow as pa

    _, bounds, letters = array.buffers()
    offset = np.int64 if array.type == pa.large_string() else np.int32
    parts = np.frombuffer(bounds or b"", offset)[1 : len(array) + 1].astype(np.int64)
    size = int(parts[-1]) if len(parts) else 0
    lines = np.insert(np.frombuffer(letters or b"", np.uint8)[:size], parts, ord("\n"))
    return lines.tobytes().decode(errors="surrogatepass").split("\n")[:-1]


def _integers(array: Any) -> Integers:
    return np.frombuffer(array.buffers()[1] or b"", np.int32)[: len(array)].astype(np.int64)


def _booleans(array: Any) -> NDArray[np.bool_]:
    bits = np.frombuffer(array.buffers()[1] or b"", np.uint8)
    return np.unpackbits(bits, count=len(array), bitorder="little").view(np.bool_)
