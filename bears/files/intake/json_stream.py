"""JSON files that may be larger than memory, as ijson reads them, a value at a time.

ijson keeps the last of several equal keys, makes half of a surrogate pair a question mark, and
crashes on what is too deep; so its bytes go through `_Checked`, and its objects note their keys.
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
from bears.files.intake.files import decoded, opened, read_text
from bears.files.intake.limits import DEPTH, TEXT_BYTES, beyond

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
        nan: ``none`` reads bare NaN, which is no JSON, as null.

    Raises:
        FormatError: it is no such file, not JSON, or beyond the limits; an integer has more than
            63 bits; a key stands twice in one object.
    """
    with _parsing(path, nan) as (stream, repeated, options):
        if not key and stream.first != b"[":
            raise FormatError(f"{path}: expected a JSON array, found {stream.first!r}")
        values = ijson.items(stream, f"{key}.item" if key else "item", **options)
        for number, value in enumerate(values, start=1):
            _check_keys(repeated, f"{path}, record {number}")
            yield value


def pairs(path: Path, key: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of the object that is the member ``key`` of the object in a file.

    Raises:
        FormatError: as `items`, or a name stands twice.
    """
    names: set[str] = set()
    with _parsing(path) as (stream, repeated, options):
        for name, value in ijson.kvitems(stream, key, **options):
            _check_keys([*repeated, *({name} & names)], f"{path}, {key}, member {name!r:.80}")
            names.add(name)
            yield name, value


def begin(path: Path) -> bytes:
    """The first character of a JSON file. Raises FormatError where there is none."""
    with _parsing(path) as (stream, _, _):
        return stream.first


def members(path: Path) -> dict[str, str]:
    """The lists and objects of the object that comes first in a file.

    Returns:
        Name to how it begins, as ijson's event: ``start_array``, or of an object its first key.
        What follows the object is not looked at, since JSON Lines begin with one too.

    Raises:
        FormatError: as `items`.
    """
    found: dict[str, str] = {}
    names: set[str] = set()
    with _parsing(path) as (stream, _, options):
        del options["map_type"]
        for prefix, event, value in ijson.parse(stream, multiple_values=True, **options):
            if prefix == "" and event == "map_key":
                _check_keys(list({value} & names), str(path))
                names.add(value)
            elif prefix == "" and event == "end_map":
                break
            elif prefix in names and event in ("start_array", "map_key"):
                found.setdefault(prefix, value or event)
    return found


@contextmanager
def _parsing(
    path: Path, nan: Nan = "none"
) -> Iterator[tuple["_Checked", list[str], dict[str, Any]]]:
    """A file's bytes, the keys that stand twice so far, and what ijson is to be told."""
    repeated: list[str] = []

    class Noting(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            # An exception here would be lost in ijson's C.
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
        raise FormatError(f"{where}: the key {repeated[0]!r:.80} stands twice in one object")


def _without_nan(piece: bytes, within: bool) -> bytes:
    """Return bytes of JSON with null for each NaN that is outside of texts.

    Args:
        piece: the bytes; no escape is cut.
        within: whether they begin within a text.
    """
    quoted = b'"' * within + piece
    replaced = TEXT_OR_NAN.sub(lambda found: b"null" if found[0] == b"NaN" else found[0], quoted)
    return replaced[within:]


class _Checked:
    """The bytes of a JSON file, of which ijson sees no more than is within the limits.

    Attributes:
        first: its first character.
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
        """The next bytes, more or less ``size``, cut where no escape is.

        With each piece ijson copies what it has of a text, so a long text comes in longer ones.
        """
        if not size:
            return b""
        piece, self._begin = self._begin or self._stream.read(max(size, self._longer)), b""
        # What has more letters like these than a NaN is no JSON, or a text in which none matters.
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
                raise FormatError(f"{self._where}: half of a surrogate pair, which is no character")
        return piece

    def _check_bounds(self, piece: bytes) -> None:
        """Follow texts and brackets, since ijson takes minutes and all memory for absurd ones."""
        # The last quotation mark ends a text that is cut here, or is left over.
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
