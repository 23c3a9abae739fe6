"""Open files from outside: regular ones, within bounds, unpacked, as UTF-8, and read JSON in them.

Refused in JSON, with their place: text that is not JSON or not UTF-8, half of a surrogate pair, a
repeated key in one object, NaN and Infinity unless the caller allows them, more than 200 nested
lists and objects, and integers of more than 4,300 digits. jiter checks all of that.

ijson reads JSON that may be larger than memory value by value. It keeps the last of several equal
keys, replaces half of a surrogate pair by a question mark, and crashes on deeply nested values; so
its bytes go through `_Checked`, and its objects record repeated keys.
"""

import codecs
import gzip
import io
import json
import os
import re
import stat
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import IO, Any, Literal

import ijson
import jiter

from bears.errors import FormatError

WHOLE_BYTES = 512 * 1024 * 1024
"""The most bytes of a file or record that is held in memory."""
TEXT_BYTES = 50_000_000
"""The most bytes of a record of streamed JSON, of a cell of a table, and of a YAML file."""
DEPTH = 100
"""The most nested lists and objects in YAML and Parquet; jiter, which parses JSON, allows 200."""
RATIO = 200
"""Bytes that one byte of a packed file may become, beyond the first 64 MiB."""
NO_TEXTS = {
    **{b"PK\x03\x04": "a zip file", b"\x1f\x8b": "a gzip file", b"\xd0\xcf": "an old Office file"},
    **{b"%PDF-": "a PDF", b"PAR1": "Parquet"},
}
"""What files begin with that are given instead of texts."""
EAST_ASIAN = ("BIG5", "CP932", "CP949", "EUC", "GB", "SHIFT")
UNBOUNDED = 64 * 1024 * 1024
"""Bytes to which any packed file may grow."""
BLOCK = 16 * 1024 * 1024
"""Bytes of lines that are read at once."""
Nan = Literal["refused", "none", "float"]
Bare = Literal["refused", "none"]
SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
PAIR = re.compile(rb"\\u[dD][89abAB]..\\u[dD][c-fC-F]")
LONGEST_ESCAPE = len(rb"\ud83d\ude00")
CHUNK = 1 << 18
TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.S)
STEPS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
NO_BRACKETS = bytes(set(range(256)) - STEPS.keys())
TEXT_OR_NAN = re.compile(rb'"(?:[^"\\]|\\.)*+"?|\bNaN\b', re.S)
MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252"}
"""What pages mean by these names, by the WHATWG's Encoding Standard."""
OF_PYTHON = frozenset({"idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"})
"""Encodings that files do not use; some take hours for a long text."""


def opened(path: Path) -> IO[bytes]:
    """Return the bytes of a regular file, unpacked if its name ends in ``.gz``.

    Raises:
        FormatError: the file is missing, is a pipe, device or directory, or may not be read; when
            it is read, also that a packed file is damaged or unpacks to too much.
    """
    try:
        # Without this flag, opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        link = f"; the link leads to {path.readlink()}" if path.is_symlink() else ""
        raise FormatError(f"{path}: no such file{link}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise FormatError(f"{path}: it cannot be read ({reason})") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FormatError(f"{path}: it is a folder, a pipe or a device; give a file's name")
    stream = os.fdopen(descriptor, "rb")
    return io.BufferedReader(_Unpacked(stream, path), 1 << 17) if path.suffix == ".gz" else stream


class _Unpacked(io.RawIOBase):
    """The content of a gzip file, up to the most that text can be packed to."""

    def __init__(self, packed: IO[bytes], path: Path) -> None:
        self._packed, self._path, self._size = packed, path, 0
        self._inner = gzip.GzipFile(fileobj=packed, mode="rb")
        self._most = max(UNBOUNDED, RATIO * os.fstat(packed.fileno()).st_size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._inner.readinto(buffer)
        except (OSError, EOFError, zlib.error) as error:
            raise FormatError(
                f"{self._path}: it cannot be unpacked ({error}); it is truncated or damaged"
            ) from None
        self._size += count
        if self._size > self._most:
            raise beyond(str(self._path), "it unpacks to too many bytes", self._most)
        return count

    def close(self) -> None:
        self._inner.close()
        self._packed.close()
        super().close()


def read_whole(path: Path) -> bytes:
    """Return the bytes of a file that fits into memory. Raises FormatError, also if it does not."""
    with opened(path) as stream:
        data = stream.read(WHOLE_BYTES + 1)
    if len(data) > WHOLE_BYTES:
        raise beyond(str(path), "it has too many bytes", WHOLE_BYTES)
    return data


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, without its byte order mark. Raises FormatError."""
    return decoded(read_whole(path), str(path))


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield (number from 1, line) of a file, split on LF only, without its byte order mark.

    Raises:
        FormatError: as `opened` does, or a line is too long.
    """
    most = WHOLE_BYTES
    with closing(opened(path)) as stream:
        for number, line in enumerate(iter(partial(stream.readline, most + 1), b""), start=1):
            if len(line) > most:
                raise beyond(f"{path}, line {number}", "the line has too many bytes", most)
            yield number, line.removeprefix(BOM_UTF8) if number == 1 else line


def decoded(data: bytes, where: str) -> str:
    """Return ``data`` as text, without a byte order mark; messages begin with ``where``.

    Raises:
        FormatError: it is not UTF-8, or holds a NUL.
    """
    for begin, kind in NO_TEXTS.items():
        if data.startswith(begin):
            raise FormatError(
                f"{where}: it is {kind}, not a text; unpack it, or give its right name"
            )
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise _not_utf8(where, "it begins like UTF-16", "UTF-16")
    if (place := data.find(b"\0")) >= 0:
        raise _not_utf8(where, f"{_place(data, place)} is a NUL, which texts do not have", "UTF-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        found = f"{_place(data, error.start)} is 0x{data[error.start]:02X}"
        raise _not_utf8(where, found, _encoding_of(data)) from None


def text_and_encoding(data: bytes, where: str, declared: str = "") -> tuple[str, str]:
    """Return ``data`` as text, and its encoding: ``utf-8``, or the marked or declared one.

    Args:
        data: UTF-8; UTF-16 with its byte order mark; or in what is ``declared``.
        where: the origin, for messages.
        declared: the encoding, unless it is UTF-8.

    Raises:
        FormatError: no encoding fits, or it holds a NUL.
    """
    marked = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""
    if not marked:
        try:
            return decoded(data, where), "utf-8"
        except FormatError:
            if not declared or b"\0" in data:
                raise
    name = marked or declared
    try:
        known = codecs.lookup(name).name
        if known in OF_PYTHON:
            raise LookupError("not an encoding of files")
        name = marked or MEANT.get(known, known)
        text = data.decode(name)
        # UTF-7 and UTF-16 can give halves of characters.
        text.encode("utf-8")
    except (LookupError, UnicodeError, ValueError) as error:
        raise FormatError(f"{where}: not UTF-8, and not {name!r:.40} either ({error})") from None
    if "\0" in text:
        raise FormatError(f"{where}: it holds a NUL, which texts do not have")
    return text, name


def _encoding_of(data: bytes) -> str:
    """Return the likely encoding of a text that is not UTF-8, if its letters have several bytes."""
    from charset_normalizer import from_bytes

    best = from_bytes(data[:100_000]).best()
    name = best.encoding.upper() if best else ""
    # Encodings of one byte look alike.
    return name if name.startswith(EAST_ASIAN) else "ENCODING (often CP1252)"


def _place(data: bytes, byte: int) -> str:
    return f"line {data.count(10, 0, byte) + 1}, byte {byte - data.rfind(10, 0, byte)}"


def _not_utf8(where: str, found: str, guess: str) -> FormatError:
    return FormatError(
        f"{where}: not UTF-8: {found}. Save it as UTF-8, or: iconv -f {guess} -t UTF-8 OLD > NEW"
    )


def beyond(where: str, found: str, limit: int) -> FormatError:
    """Return the error for a file beyond a limit."""
    return FormatError(f"{where}: {found}; the limit is {limit}")


def json_value(
    source: Path | bytes, where: str = "", nan: Nan = "refused", halves: bool = False
) -> Any:
    """Return the value of a JSON file, or of bytes that hold one.

    Args:
        source: the file, or the bytes.
        where: the origin of the bytes, for messages; the default for a file is its path.
        nan: how to treat bare NaN and Infinity, which are not JSON.
        halves: accept half of a surrogate pair.

    Raises:
        FormatError: the file is missing, or its content is refused.
    """
    if isinstance(source, Path):
        source, where = read_whole(source), where or str(source)
    data = source.removeprefix(BOM_UTF8)
    try:
        value = jiter.from_json(data, allow_inf_nan=nan != "refused", catch_duplicate_keys=True)
    except ValueError as error:
        if halves and _is_half(error):
            with suppress(ValueError, RecursionError):
                return json.loads(data)
        decoded(data, where)
        raise FormatError(f"{where}: not valid JSON ({_reason(error)})") from None
    if nan == "none" and (b"NaN" in data or b"Infinity" in data):
        return json.loads(data, parse_constant=lambda _: None)
    return value


def lines(path: Path, nan: Nan = "refused", blank: bool = False) -> Iterator[tuple[int, Any]]:
    """Yield (line number from 1, value) of a JSON Lines file, split on LF only.

    Args:
        path: the file.
        nan: as for `json_value`.
        blank: skip lines of white space, instead of refusing them.

    Raises:
        FormatError: naming the refused line.
    """
    for number, line in numbered_lines(path):
        if not (blank and line.isspace()):
            yield number, json_value(line, f"{path}, line {number}", nan)


def _reason(error: ValueError) -> str:
    reason = str(error)
    if _is_half(error):
        return f"half of a surrogate pair, which UTF-8 cannot hold; {reason}"
    return reason.replace("Detected duplicate key", "a key is repeated in one object:")


def _is_half(error: ValueError) -> bool:
    return "surrogate" in str(error) or "hex escape" in str(error)


def items(path: Path, key: str = "", nan: Bare = "refused") -> Iterator[Any]:
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
    path: Path, nan: Bare = "none"
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

    def __init__(self, stream: IO[bytes], where: str, nan: Bare) -> None:
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
