"""JSON arrays that may be larger than memory, value by value.

An array is cut at the commas between its values; each value is parsed and checked by itself.
"""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.files.intake.files import DEPTH, TEXT_BYTES, beyond, decoded, opened
from bears.files.intake.json_text import Nan, json_value

CHUNK = 1 << 18
_TEXT = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_NEXT = re.compile(rb'(?:[^"\[\]{},]++|' + _TEXT + rb")*+([\[\]{},])", re.DOTALL)
"""Ends with the next bracket or comma outside of texts."""
_STEPS = {b"[": 1, b"{": 1, b"]": -1, b"}": -1, b",": 0}
_BRACKET = re.compile(rb'(?:[^"\[\]{}]++|' + _TEXT + rb")*+([\[\]{}])", re.DOTALL)


def begin(path: Path) -> bytes:
    """Return the first character of a JSON file. Raises FormatError if it is empty."""
    with closing(opened(path)) as stream:
        data = stream.read(CHUNK).removeprefix(BOM_UTF8)
    first = data.strip()[:1]
    if b"\0" in data or not first.isascii():
        decoded(data, str(path))
    if not first:
        raise FormatError(f"{path}: not valid JSON (empty)")
    return first


def items(path: Path, nan: Nan = "refused") -> Iterator[Any]:
    """Yield the values of an array.

    Args:
        path: the file.
        nan: as for `json_value`.

    Raises:
        FormatError: the file is missing, is not an array, or is beyond the limits; or
            `json_value` refuses a value.
    """
    if (first := begin(path)) != b"[":
        raise FormatError(f"{path}: expected a JSON array, found {first!r}")
    for number, value in enumerate(_values(path), start=1):
        yield json_value(value, f"{path}, record {number}", nan)


def _values(path: Path) -> Iterator[bytes]:
    """Yield the bytes of each value of an array."""
    with closing(opened(path)) as stream:
        data = stream.read(CHUNK)
        start = at = data.index(b"[") + 1
        depth, several, sign = 1, False, b""
        while depth:
            found = (_NEXT if depth == 1 else _BRACKET).match(data, at)
            if not found:
                if len(data) - start > TEXT_BYTES:
                    raise beyond(str(path), "a record has too many bytes", TEXT_BYTES)
                # A long text is searched again in twice as many bytes.
                more = stream.read(max(CHUNK, len(data) - at))
                if not more:
                    raise FormatError(f"{path}: not valid JSON (the array has no end)")
                data, at, start = data[start:] + more, at - start, 0
                continue
            at, sign = found.end(), found[1]
            depth += _STEPS[sign]
            if depth > DEPTH:
                raise beyond(str(path), "lists and objects are nested too deeply", DEPTH)
            if depth == 0 or (depth == 1 and sign == b","):
                value, start = data[start : at - 1], at
                several = several or sign == b","
                if several or value.strip():
                    yield value
        if sign != b"]" or (data[at:] + stream.read(CHUNK)).strip():
            raise FormatError(f"{path}: not valid JSON (something follows the array)")
