"""A translation without a model: every letter becomes another one, and back again.

Latin letters become Armenian ones (capitals stay capitals), common ideographs rare ones, hiragana
katakana, and Hangul syllables one another; numbers, punctuation, question marks and the marks of
a span stay. The exchange is mutual, so doing it twice gives the text back, whatever the text.
"""

from __future__ import annotations

import string

_PAIRS = (
    *zip(string.ascii_uppercase, map(chr, range(0x531, 0x531 + 26)), strict=True),
    *zip(string.ascii_lowercase, map(chr, range(0x561, 0x561 + 26)), strict=True),
    *((chr(0x4E00 + i), chr(0x20000 + i)) for i in range(0x5200)),
    *((chr(0x3041 + i), chr(0x30A1 + i)) for i in range(86)),
    *((chr(0xAC00 + i), chr(0xAC00 + 11171 - i)) for i in range(11172 // 2)),
)
_EXCHANGE = str.maketrans({a: b for x, y in _PAIRS for a, b in ((x, y), (y, x))})


def encode(text: str) -> str:
    """The pseudo translation of ``text``."""
    return text.translate(_EXCHANGE)


def decode(text: str) -> str:
    """The text that `encode` made ``text`` of."""
    return text.translate(_EXCHANGE)
