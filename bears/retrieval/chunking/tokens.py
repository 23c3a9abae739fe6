"""Chunks of a fixed number of tokens that overlap."""

import re
import unicodedata
from functools import cache
from typing import Literal

from bears.errors import ConfigurationError
from bears.language.scripts import HAN, KANA, SOUTH_EAST_ASIAN
from bears.retrieval.chunking import Range

UNSPACED = SOUTH_EAST_ASIAN + KANA + HAN
"""Scripts without spaces: Thai, Lao, Myanmar, Khmer, kana and Han."""


class Tokens:
    """Chunks of ``size`` tokens, each beginning with the last ``overlap`` tokens of the one before.

    ``tokenizer`` decides what a token is: with ``characters`` each character; with ``words`` a run
    of letters and digits, or one character of a script without spaces (Han, kana, Thai, Lao,
    Myanmar, Khmer), or one other visible character. White space belongs to the token before it.

    Args:
        size: tokens in a chunk.
        overlap: tokens that two neighbors share; less than ``size``.
        tokenizer: ``characters`` or ``words``.

    Raises:
        ConfigurationError: the size is not positive, or the overlap not between 0 and it.
    """

    def __init__(
        self, size: int, overlap: int, tokenizer: Literal["characters", "words"] = "words"
    ) -> None:
        if not 0 <= overlap < size:
            raise ConfigurationError(
                f"chunking.size is {size} and chunking.overlap is {overlap}; expected a positive "
                "size and an overlap from 0 to below the size"
            )
        self._size, self._overlap, self._tokenizer = size, overlap, tokenizer

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``."""
        if self._tokenizer == "characters":
            starts = [*range(len(text))]
        else:
            starts = [found.start() for found in _words().finditer(text)]
        ends = [0, *starts[1:], len(text)]
        # A text without a token is a chunk, too.
        count = len(ends) - 1
        firsts = range(0, max(count - self._overlap, 1), self._size - self._overlap)
        return [(ends[first], ends[min(first + self._size, count)]) for first in firsts]


@cache
def _words() -> re.Pattern[str]:
    marks = "".join(c for c in map(chr, range(0x10000)) if unicodedata.category(c)[0] == "M")
    word = rf"(?:(?![{UNSPACED}])[\w{marks}])+"
    return re.compile(rf"[{UNSPACED}][{marks}]*|{word}|\S[{marks}]*")
