"""Where values of JSON begin and end, found in bytes that no parser has seen yet.

A parser holds a value in memory whole, and some crash on one that is too deep. So a long file is
cut into its elements first, at several hundred MB a second, and what is too deep or too long is
refused on the way.
"""

from collections.abc import Iterator
from typing import Any

from bears.errors import FormatError
from bears.intake.limits import beyond, limits

CHUNK = 1 << 18
QUOTE, COMMA, OPENS, CLOSES = 1, 2, 3, 4
MEANING = dict(zip(b'",[{]}', (QUOTE, COMMA, OPENS, OPENS, CLOSES, CLOSES), strict=True))
KINDS = bytes(MEANING.get(byte, 0) for byte in range(256))
"""Byte to what it means outside of texts; 0 for nothing."""

Mark = tuple[int, int]
"""The place of a comma or a bracket, and the depth there: of a bracket, after it."""


class Structure:
    """Takes the bytes of a JSON file one piece after the other, cut anywhere.

    Args:
        where: what is read; errors begin with it.
    """

    def __init__(self, where: str) -> None:
        self.depth = 0
        self._where, self._escaped = where, False
        # Where the text began that the last piece ended in, counted from this piece's begin.
        self._text: int | None = None

    def marks(self, piece: bytes, depth: int) -> Iterator[Mark]:
        """The commas and brackets of ``piece`` that part what stands at most at ``depth``.

        Raises:
            FormatError: it is too deep, a text is too long, or a bracket closes nothing.
        """
        # Importing it takes longer than most stages need for their JSON.
        import numpy as np

        codes = np.frombuffer(self._unescaped(piece).translate(KINDS), np.uint8)
        places = np.flatnonzero(codes != 0)
        kinds = codes[places]
        quotes = kinds == QUOTE
        outside = (np.cumsum(quotes) + (self._text is not None)) % 2 == 0
        self._measure(places[quotes], len(piece))
        outside &= ~quotes
        places, kinds = places[outside], kinds[outside]
        depths = self.depth + np.cumsum((kinds == OPENS).astype(np.int64) - (kinds == CLOSES))
        if len(depths):
            self._check(int(depths.min()), int(depths.max()))
            self.depth = int(depths[-1])
        chosen = depths + (kinds == CLOSES) <= depth
        return zip(places[chosen].tolist(), depths[chosen].tolist(), strict=True)

    def _unescaped(self, piece: bytes) -> bytes:
        """``piece`` of the same length, without quotation marks that are part of a text."""
        if self._escaped:
            piece = b"_" + piece[1:]
        if b"\\" in piece:
            # From left to right, so that what escapes a backslash escapes nothing else.
            piece = piece.replace(b"\\\\", b"__").replace(b'\\"', b"__")
        self._escaped = piece.endswith(b"\\")
        return piece

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

    def _check(self, least: int, deepest: int) -> None:
        if least < 0:
            raise FormatError(f"{self._where}: not valid JSON (a bracket closes what none opened)")
        if deepest > limits().depth:
            raise beyond(self._where, "lists and objects are nested too deeply", "depth")
