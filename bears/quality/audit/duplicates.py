"""Texts that stand, whole or nearly, in one another."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.uint64]
Places = NDArray[np.int64]

KEPT = 1 << 22
"""Passages that are compared at the most; of more, every n-th by its number is."""
_BETWEEN = re.compile(r"[\W_]+")
_BASE, _MIX = 0x100000001B3, np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(31)


class Overlap(NamedTuple):
    """Two texts by their positions, the share of the smaller one that stands in the other, and
    whether they are the same but for case, spaces and punctuation."""

    smaller: int
    other: int
    share: float
    equal: bool


def overlaps(
    texts: Sequence[str], width: int, least: float, repeated: int
) -> tuple[list[Overlap], int]:
    """The pairs of texts of which one stands, by at least the share ``least``, in the other one.

    Compared are passages of ``width`` letters and digits, whatever stands between them. Time and
    memory follow the passages; of more than `KEPT` a fixed part is compared, which estimates the
    share. A text shorter than a passage, and one of which no passage is compared, is in no pair.

    Args:
        repeated: a passage that stands in more texts than this is what all of them have, and is
            left out.

    Returns:
        Each pair once, by the positions of the two; of two equal texts the first is ``other``. And
        every how many-th passage was compared.
    """
    plain = [_BETWEEN.sub("", text.casefold()) for text in texts]
    first: dict[str, int] = {}
    same = [(i, first.setdefault(text, i)) for i, text in enumerate(plain)]
    found = [Overlap(i, other, 1.0, True) for i, other in same if i != other and plain[i]]
    every = max(1, -(-sum(max(0, len(text) - width + 1) for text in first) // KEPT))
    passages = [_passages(text, width, every) for text in first]
    positions = list(first.values())
    for smaller, other, share in _held(passages, least, repeated):
        found.append(Overlap(positions[smaller], positions[other], share, False))
    return sorted(found), every


def _passages(text: str, width: int, every: int) -> Numbers:
    """The numbers of the passages of a text, each once; only multiples of ``every``."""
    codes = np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64)
    if len(codes) < width:
        return np.zeros(0, np.uint64)
    # Horner's rule by doubling: of two passages that adjoin, that of both together.
    numbers, done = codes.copy(), 1
    for bit in f"{width:b}"[1:]:
        numbers = numbers[:-done] * np.uint64(pow(_BASE, done, 1 << 64)) + numbers[done:]
        done *= 2
        if bit == "1":
            numbers = numbers[:-1] * np.uint64(_BASE) + codes[done:]
            done += 1
    numbers ^= numbers >> _SHIFT
    numbers *= _MIX
    numbers ^= numbers >> _SHIFT
    return np.unique(numbers[numbers % np.uint64(every) == 0] if every > 1 else numbers)


def _held(
    passages: Sequence[Numbers], least: float, repeated: int
) -> Iterator[tuple[int, int, float]]:
    """Pairs of different texts, the smaller first, with its share, by the passages of both."""
    sizes = np.array([len(numbers) for numbers in passages], np.int64)
    owners = np.repeat(np.arange(len(passages)), sizes)
    numbers = np.concatenate([*passages, np.zeros(0, np.uint64)])
    order = np.argsort(numbers, kind="stable")
    owners, numbers = owners[order], numbers[order]
    starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1])[: len(numbers)])
    lengths = np.diff(starts, append=len(numbers))
    common = np.repeat(lengths > repeated, lengths)
    sizes -= np.bincount(owners[common], minlength=len(sizes))
    pairs, shared = np.unique(
        np.concatenate(
            [
                _pairs(owners[starts[lengths == n][:, None] + np.arange(n)], len(passages))
                for n in range(2, repeated + 1)
            ]
        ),
        return_counts=True,
    )
    one, other = np.divmod(pairs, len(passages))
    swapped = sizes[other] < sizes[one]
    smaller, larger = np.where(swapped, other, one), np.where(swapped, one, other)
    shares = shared / sizes[smaller]
    keep = shares >= least
    columns = (smaller[keep].tolist(), larger[keep].tolist(), shares[keep].tolist())
    yield from zip(*columns, strict=True)


def _pairs(of_passage: Places, texts: int) -> Places:
    """Each pair of the texts that have a passage, one row a passage, as one number."""
    one, other = np.triu_indices(of_passage.shape[1], 1)
    return (of_passage[:, one] * texts + of_passage[:, other]).ravel()
