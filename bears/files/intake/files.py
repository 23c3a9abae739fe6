"""Open files from outside: regular ones, within bounds, unpacked, as UTF-8, and read JSON in them.

Refused in JSON, with their place: text that is not JSON or not UTF-8, half of a surrogate pair, a
repeated key in one object, NaN and Infinity unless the caller allows them, more than 200 nested
lists and objects, and integers of more than 4,300 digits. jiter checks all of that.
"""

import gzip
import io
import json
import os
import stat
import zlib
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

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


Nan = Literal["refused", "none", "float"]


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
