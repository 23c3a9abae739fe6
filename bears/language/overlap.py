"""Find texts that contain one another, whole, nearly or in part."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Owners = NDArray[np.int64]

KEPT = 1 << 22
"""How many passages are compared; if there are more, those with every n-th hash are."""
_BETWEEN = re.compile(r"[\W_]+")
_BASE, _MIX = np.uint64(0x100000001B3), np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)


class Overlap(NamedTuple):
    """Two texts of which one contains much of the other.

    Attributes:
        smaller: position of the smaller text.
        other: position of the other text.
        share: of the smaller text that the other one contains.
        common: of all their passages, the share that both have (Jaccard).
        equal: whether they differ only in case, spaces and punctuation.
    """

    smaller: int
    other: int
    share: float
    common: float
    equal: bool


def overlaps(
    texts: Sequence[str], width: int, least: float, repeated: int
) -> tuple[list[Overlap], int]:
    """Find the pairs of texts of which one contains at least the share ``least`` of the other.

    Passages of ``width`` letters and digits are compared, ignoring what is between them. Time and
    memory grow with the passages. If there are more than `KEPT`, a fixed part of them is compared,
    which estimates the share. A text without a compared passage, such as one shorter than a
    passage, is in no pair.

    Args:
        texts: to compare.
        width: of a passage.
        least: the smallest share.
        repeated: a passage that is in more texts than this is ignored as boilerplate.

    Returns:
        Each pair once, by the positions of the two; of two equal texts the first is ``other``. Also
        n, if every n-th passage was compared.
    """
    plain = [_BETWEEN.sub("", text.casefold()) for text in texts]
    first: dict[str, int] = {}
    same = [(i, first.setdefault(text, i)) for i, text in enumerate(plain)]
    found = [Overlap(i, other, 1.0, 1.0, True) for i, other in same if i != other and plain[i]]
    every = max(1, -(-sum(max(0, len(text) - width + 1) for text in first) // KEPT))
    passages = [_passages(text, width, every) for text in first]
    positions = list(first.values())
    for smaller, other, share, common in _contained(passages, least, repeated):
        found.append(Overlap(positions[smaller], positions[other], share, common, False))
    return sorted(found), every


def _passages(text: str, width: int, every: int) -> Hashes:
    """Return the distinct hashes of the passages of a text; only multiples of ``every``."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    count = len(codes) - width + 1
    if count < 1:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    for start in range(width):
        hashes = hashes * _BASE + codes[start : start + count]
    hashes ^= hashes >> _SHIFT
    hashes *= _MIX
    hashes ^= hashes >> _SHIFT
    return np.unique(hashes[hashes % np.uint64(every) == 0])


def _contained(
    passages: Sequence[Hashes], least: float, repeated: int
) -> Iterator[tuple[int, int, float, float]]:
    """Yield pairs of different texts, the smaller one first, with its share and the common one."""
    sizes = np.array([len(hashes) for hashes in passages], np.int64)
    owners = np.repeat(np.arange(len(passages)), sizes)
    hashes = np.concatenate([*passages, np.zeros(0, np.uint64)])
    order = np.argsort(hashes, kind="stable")
    owners, hashes = owners[order], hashes[order]
    starts = np.flatnonzero(np.append(True, hashes[1:] != hashes[:-1])[: len(hashes)])
    lengths = np.diff(starts, append=len(hashes))
    boilerplate = np.repeat(lengths > repeated, lengths)
    sizes -= np.bincount(owners[boilerplate], minlength=len(sizes))
    shared_by = (
        _pairs(owners[starts[lengths == n][:, None] + np.arange(n)], len(passages))
        for n in range(2, repeated + 1)
    )
    pairs, shared = np.unique(np.concatenate([*shared_by]), return_counts=True)
    one, other = np.divmod(pairs, len(passages))
    swapped = sizes[other] < sizes[one]
    smaller, larger = np.where(swapped, other, one), np.where(swapped, one, other)
    shares = shared / sizes[smaller]
    common = shared / (sizes[smaller] + sizes[larger] - shared)
    keep = shares >= least
    columns = (column[keep].tolist() for column in (smaller, larger, shares, common))
    yield from zip(*columns, strict=True)


def _pairs(owners: Owners, texts: int) -> Owners:
    """Return each pair of texts that share a passage as one number; a row per passage."""
    one, other = np.triu_indices(owners.shape[1], 1)
    return (owners[:, one] * texts + owners[:, other]).ravel()


LEAST = 0.3
"""The smallest overlap that counts."""


class Chunks:
    """Texts among which to find the one that has most of another text.

    Args:
        texts: in reading order.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._trigrams = [_trigrams(text) for text in texts]

    def holding_most_of(self, text: str) -> int | None:
        """Return the position of the text with the greatest overlap; of equal ones the first.

        Overlap is the share of the distinct word trigrams of ``text`` that a chunk has; words are
        lower-cased runs of letters and digits. Return None if the greatest overlap is too small.
        """
        wanted = _trigrams(text)
        if not wanted:
            return None
        shares = [len(wanted & trigrams) / len(wanted) for trigrams in self._trigrams]
        best = max(shares, default=0.0)
        return shares.index(best) if best >= LEAST else None


def _trigrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))
