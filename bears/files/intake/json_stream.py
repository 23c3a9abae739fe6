"""JSON files that may be larger than memory, which ijson reads value by value.

ijson keeps the last of several equal keys, replaces half of a surrogate pair by a question mark,
and crashes on deeply nested values; so its bytes go through `_Checked`, and its objects record
repeated keys.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, Literal

import ijson

from bears.errors import FormatError
from bears.files.intake.files import DEPTH, TEXT_BYTES, beyond, decoded, opened, read_text

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
PAIR = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]")
LONGEST_ESCAPE = len(rb"\ud83d\ude00")
CHUNK = 1 << 18
TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
NO_BRACKETS = bytes(set(range(256)) - STEPS.keys())
TEXT_OR_NAN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|\bNaN\b', re.S)
Nan = Literal["refused", "none"]


def items(path: Path, key: str = "", nan: Nan = "refused") -> Iterator[Any]:
    """Yield the elements of a list.

    Args:
        path: the file; it holds a list, or an object.
        key: of the object's member that is the list; empty: the file is the list.
        nan: ``none`` reads bare NaN, which is not JSON, as null.

    Raises:
        FormatError: the file is missing, not JSON, or beyond the limits; an integer has more than
            63 bits; a key is repeated in one object.
    """
    with _parsing(path, nan) as (stream, repeated, options):
        if not key and stream.first != b"[":
            raise FormatError(f"{path}: expected a JSON array, found {stream.first!r}")
        values = ijson.items(stream, f"{key}.item" if key else "item", **options)
        for number, value in enumerate(values, start=1):
            _check_keys(repeated, f"{path}, record {number}")
            yield value


def begin(path: Path) -> bytes:
    """Return the first character of a JSON file. Raises FormatError if it is empty."""
    with _parsing(path) as (stream, _, _):
        return stream.first


def members(path: Path) -> dict[str, bool]:
    """Return the names of the object that comes first in a file, and whether each is a list.

    The rest of the file is ignored, since JSON Lines begin with an object too.

    Raises:
        FormatError: as `items` does.
    """
    names: dict[str, bool] = {}
    with _parsing(path) as (stream, _, options):
        del options["map_type"]
        for prefix, event, value in ijson.parse(stream, multiple_values=True, **options):
            if prefix == "" and event == "map_key":
                _check_keys(list({value} & names.keys()), str(path))
                names[value] = False
            elif prefix == "" and event == "end_map":
                break
            elif prefix in names and event == "start_array":
                names[prefix] = True
    return names


@contextmanager
def _parsing(
    path: Path, nan: Nan = "none"
) -> Iterator[tuple["_Checked", list[str], dict[str, Any]]]:
    """Yield a file's bytes, a list that collects repeated keys, and options for ijson."""
    repeated: list[str] = []

    class Noting(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            # ijson's C code would lose an exception.
            if key in self:
                repeated.append(key)
            super().__setitem__(key, value)

    try:
        with closing(opened(path)) as stream:
            yield (
                _Checked(stream, str(path), nan),
                repeated,
                {"use_float": True, "map_type": Noting, "buf_size": CHUNK},
            )
    except UnicodeDecodeError:
        read_text(path)
        raise
    except ijson.JSONError as error:
        given = error.args[0] if error.args else ""
        reason = given.decode("utf-8", "replace") if isinstance(given, bytes) else str(given)
        if "UTF8" in reason:
            read_text(path)
        raise FormatError(f"{path}: not valid JSON ({reason.split(chr(10))[0].strip()})") from None


def _check_keys(repeated: list[str], where: str) -> None:
    if repeated:
        raise FormatError(f"{where}: the key {repeated[0]!r:.80} is repeated in one object")


def _without_nan(piece: bytes, within: bool) -> bytes:
    """Replace each NaN outside of texts by null.

    Args:
        piece: bytes of JSON, which end before or after an escape.
        within: whether they begin within a text.
    """
    quoted = b'"' * within + piece
    replaced = TEXT_OR_NAN.sub(lambda found: b"null" if found[0] == b"NaN" else found[0], quoted)
    return replaced[within:]


class _Checked:
    """The bytes of a JSON file, checked against the limits before ijson parses them.

    Attributes:
        first: the first character.
    """

    def __init__(self, stream: IO[bytes], where: str, nan: Nan) -> None:
        self._nan = nan == "none"
        self._stream, self._where, self._depth = stream, where, 0
        self._within, self._longer = False, 0
        self._begin = stream.read(CHUNK).removeprefix(BOM_UTF8)
        while not self._begin.strip() and (more := stream.read(CHUNK)):
            self._begin = more
        self.first = self._begin.strip()[:1]
        if not self.first:
            raise FormatError(f"{where}: not valid JSON (empty)")
        if b"\0" in self._begin or not self.first.isascii():
            decoded(self._begin, where)

    def read(self, size: int) -> bytes:
        """Return about ``size`` more bytes, without cutting an escape.

        ijson copies its part of a text with each piece, so a long text comes in longer pieces.
        """
        if not size:
            return b""
        piece, self._begin = self._begin or self._stream.read(max(size, self._longer)), b""
        # A longer run of such letters than a NaN is not JSON, or a text, where it does not matter.
        most = len(piece) + 1000
        while b"\\" in piece[-LONGEST_ESCAPE:] or (
            self._nan and piece.endswith((b"N", b"Na")) and len(piece) < most
        ):
            if not (more := self._stream.read(LONGEST_ESCAPE)):
                break
            piece += more
        within = self._within
        self._check_bounds(piece)
        if self._nan and b"NaN" in piece:
            piece = _without_nan(piece, within)
        if SURROGATE.search(piece):
            halves = PAIR.sub(b"", piece.replace(b"\\\\", b""))
            if SURROGATE.search(halves):
                raise FormatError(f"{self._where}: half of a surrogate pair is not a character")
        return piece

    def _check_bounds(self, piece: bytes) -> None:
        """Check texts and brackets, since ijson takes minutes and all memory for absurd ones."""
        # The last quotation mark ends a text that is cut here, or remains.
        bare = TEXT.sub(b"", b'"' * self._within + piece + b'"')
        self._within = not bare.endswith(b'"')
        self._longer = 0 if bare else 2 * len(piece)
        if self._longer > 2 * TEXT_BYTES:
            raise beyond(self._where, "a text is too long", TEXT_BYTES)
        steps = map(STEPS.__getitem__, bare.translate(None, NO_BRACKETS))
        depths = list(accumulate(steps, initial=self._depth))
        if max(depths) > DEPTH:
            raise beyond(self._where, "lists and objects are nested too deeply", DEPTH)
        self._depth = depths[-1]
