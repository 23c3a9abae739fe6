"""The bounds of JSON, held against bytes that no parser has seen yet.

A parser holds a value in memory whole, and some crash on one that is too deep or has a number that
is too long. So what is too large is refused before, at several hundred MB a second.
"""

import re
from functools import cache
from typing import Any

from bears.errors import FormatError
from bears.files.intake.limits import beyond, limits

CHUNK = 1 << 18
QUOTE, OPENS, CLOSES = 1, 2, 3
MEANING = dict(zip(b'"[{]}', (QUOTE, OPENS, OPENS, CLOSES, CLOSES), strict=True))
KINDS = bytes(MEANING.get(byte, 0) for byte in range(256))
"""Byte to what it means outside of texts; 0 for nothing."""
STRIDE = 100


class Structure:
    """Takes the bytes of a JSON file one piece after the other, cut anywhere.

    A number that is cut in two is measured in two.

    Args:
        where: what is read; errors begin with it.
    """

    def __init__(self, where: str) -> None:
        self._where, self._depth, self._escaped = where, 0, False
        # Where the text began that the last piece ended in, counted from this piece's begin.
        self._text: int | None = None

    @property
    def unfinished(self) -> int:
        """How many bytes there are by now of the text that the last piece ended in."""
        return -self._text if self._text is not None else 0

    def check(self, piece: bytes) -> None:
        """Look at the next piece.

        Raises:
            FormatError: it is too deep, a text or a number is too long, or a bracket closes
                nothing.
        """
        # Importing it takes longer than most stages need for their JSON.
        import numpy as np

        codes = np.frombuffer(self._unescaped(piece).translate(KINDS), np.uint8)
        places = np.flatnonzero(codes != 0)
        kinds = codes[places]
        quotes = kinds == QUOTE
        within = self._text is not None
        outside = ((np.cumsum(quotes) + within) % 2 == 0) & ~quotes
        self._check_numbers(piece, places[quotes], within)
        self._measure(places[quotes], len(piece))
        kinds = kinds[outside]
        depths = self._depth + np.cumsum((kinds == OPENS).astype(np.int64) - (kinds == CLOSES))
        if len(depths):
            self._check_depth(int(depths.min()), int(depths.max()))
            self._depth = int(depths[-1])

    def _unescaped(self, piece: bytes) -> bytes:
        """``piece`` of the same length, without quotation marks that are part of a text."""
        if self._escaped:
            piece = b"_" + piece[1:]
        if b"\\" in piece:
            # From left to right, so that what escapes a backslash escapes nothing else.
            piece = piece.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        self._escaped = piece.endswith(b"\\")
        return piece

    def _check_numbers(self, piece: bytes, quotes: Any, within: bool) -> None:
        if not has_many_digits(piece):
            return
        for number in _many_digits(limits().digits)[1].finditer(piece):
            if (int(quotes.searchsorted(number.start())) + within) % 2 == 0:
                raise beyond(self._where, f"a number has {len(number.group())} digits", "digits")

    def _measure(self, quotes: Any, size: int) -> None:
        """Follow the texts of a piece, none of which may be too long."""
        import numpy as np

        ends = quotes if self._text is None else np.concatenate(([self._text], quotes))
        within = len(ends) % 2 == 1
        self._text = int(ends[-1]) - size if within else None
        ends = np.append(ends, size) if within else ends
        most = limits().text_bytes
        if (ends[1::2] - ends[::2] > most + 1).any():
            raise beyond(self._where, "a text is too long", "text_bytes")

    def _check_depth(self, least: int, deepest: int) -> None:
        if least < 0:
            raise FormatError(f"{self._where}: not valid JSON (a bracket closes what none opened)")
        if deepest > limits().depth:
            raise beyond(self._where, "lists and objects are nested too deeply", "depth")


def has_many_digits(data: bytes) -> bool:
    """Whether there may be more digits in a row than a number may have, within a text or not."""
    return bool(_many_digits(limits().digits)[0].search(data[::STRIDE]))


@cache
def _many_digits(most: int) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """What every hundredth byte of more than ``most`` digits in a row shows, and those digits."""
    shown = max(1, most // STRIDE)
    return re.compile(rb"[0-9]{%d}" % shown), re.compile(rb"[0-9]{%d,}" % (most + 1))
