"""Which of several texts holds most of another one."""

import re
from collections.abc import Sequence


class Chunks:
    """Texts that are asked which of them holds most of another text.

    Args:
        texts: in reading order.
        least: the share below which none holds it.
    """

    def __init__(self, texts: Sequence[str], least: float = 0.3) -> None:
        self._trigrams = [_trigrams(text) for text in texts]
        self._least = least

    def holding_most_of(self, text: str) -> int | None:
        """The position of the text with the greatest overlap, of equal ones the first.

        Overlap is the share of the distinct word trigrams of ``text`` that a chunk has, words
        being lower-cased runs of letters and digits. None where the greatest is too small.
        """
        wanted = _trigrams(text)
        if not wanted:
            return None
        shares = [len(wanted & there) / len(wanted) for there in self._trigrams]
        best = max(shares, default=0.0)
        return shares.index(best) if best >= self._least else None


def _trigrams(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return set(zip(words, words[1:], words[2:], strict=False))
