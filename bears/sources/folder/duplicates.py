"""Find texts that are nearly the same, by the n-grams that they share."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from zlib import crc32

from bears.files.progress import Progress
from bears.language.scripts import HAN, KANA, SOUTH_EAST_ASIAN

UNSPACED = SOUTH_EAST_ASIAN + KANA + HAN
TOKEN = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")
LENGTH = 4
"""The number of tokens in an n-gram."""
TRIED = 200
"""The most earlier texts that a text is compared with: those with most n-grams in common."""


def near_duplicates(texts: Sequence[str], least: float) -> Iterator[tuple[int, int, float]]:
    """Find each text that is nearly the same as an earlier one that is not itself a duplicate.

    Texts that contain different numbers count as different, however much they share.

    Args:
        texts: the first of several duplicates is kept.
        least: the share of their distinct n-grams that two texts have in common (Jaccard).

    Yields:
        The text's position, that of the earlier one, and the share.
    """
    bar = partial(Progress, desc="near duplicates", unit=" texts", leave=False)
    grams = [_grams(text) for text in bar(texts)]
    frequency = Counter(gram for found in grams for gram in found)
    kept: dict[tuple[int, int], list[int]] = defaultdict(list)
    for position, found in enumerate(bar(grams)):
        # Two texts that share so much share one of their rarest n-grams (Chaudhuri et al. 2006).
        ordered = sorted(found, key=lambda gram: (frequency[gram], gram))
        numbers = crc32(" ".join(sorted(re.findall(r"\d+", texts[position]))).encode())
        length = len(ordered) - int(least * len(ordered)) + 1
        rarest = [(gram, numbers) for gram in ordered[:length]]
        candidates = Counter(other for key in rarest for other in kept[key][:TRIED])
        share, other = max(
            ((_share(found, grams[i]), -i) for i, _ in candidates.most_common(TRIED)),
            default=(0.0, 0),
        )
        if share >= least and candidates:
            yield position, -other, share
        else:
            for key in rarest:
                kept[key].append(position)


def _share(one: frozenset[int], other: frozenset[int]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _grams(text: str) -> frozenset[int]:
    tokens = TOKEN.findall(text.casefold())
    grams = zip(*(tokens[i:] for i in range(LENGTH)), strict=False)
    return frozenset(crc32(" ".join(gram).encode()) for gram in grams) or frozenset(
        {crc32(" ".join(tokens).encode())}
    )
