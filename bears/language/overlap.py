"""Find which of several texts has most of another one."""

import re
from collections.abc import Sequence


class Chunks:
    """Texts among which to find the one that has most of another text.

    Args:
        texts: in reading order.
        least: the smallest share that counts.
    """

    def __init__(self, texts: Sequence[str], least: float = 0.3) -> None:
        self._trigrams = [_trigrams(text) for text in texts]
        self._least = least

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
        return shares.index(best) if best >= self._least else None


def _trigrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))
