"""JSON and JSON Lines from outside, a value at a time.

Refused, naming the place: what is not JSON or not UTF-8, half of a surrogate pair, a key that
stands twice in one object, NaN and Infinity where nobody asked for them, and what is too deep, too
long or too large for `bears.intake.limits`.
"""

import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jiter

from bears.errors import FormatError
from bears.intake.files import decoded, numbered_lines, read_whole
from bears.intake.json_structure import CHUNK, Structure
from bears.intake.limits import beyond, limits

TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
STRIDE = 100


def json_value(source: Path | bytes, where: str = "", nan_as_none: bool = False) -> Any:
    """The value of a JSON file, or of bytes that hold one.

    Args:
        source: the file, or the bytes.
        where: what the bytes are, which messages begin with; a file is named by its path.
        nan_as_none: whether bare NaN and Infinity, which are no JSON, are None, or refused.

    Raises:
        FormatError: there is no such file, or its content is refused.
    """
    if isinstance(source, Path):
        source, where = read_whole(source), where or str(source)
    data = source.removeprefix(BOM_UTF8)
    _check(data, where)
    try:
        value = jiter.from_json(data, allow_inf_nan=nan_as_none, catch_duplicate_keys=True)
    except ValueError as error:
        decoded(data, where)
        raise FormatError(f"{where}: not valid JSON ({_reason(error)})") from None
    if nan_as_none and (b"NaN" in data or b"Infinity" in data):
        return json.loads(data, parse_constant=lambda _: None)
    return value


def lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line number from 1, value) of a JSON Lines file, split on LF only.

    Raises:
        FormatError: naming the line that is refused; a blank one is.
    """
    for number, line in numbered_lines(path):
        yield number, json_value(line, f"{path}, line {number}")


def _check(data: bytes, where: str) -> None:
    """Refuse what is beyond the limits, looking closely only at what can be."""
    bounds = limits()
    if len(data) > bounds.whole_bytes:
        raise beyond(where, f"it has {len(data)} bytes", "whole_bytes")
    if len(data) > bounds.text_bytes or data.count(b"[") + data.count(b"{") > bounds.depth:
        structure = Structure(where)
        for start in range(0, len(data), CHUNK):
            structure.marks(data[start : start + CHUNK], 0)
    # So many digits in a row are seen by looking at every hundredth byte.
    if re.search(rb"[0-9]{%d}" % max(1, bounds.digits // STRIDE), data[::STRIDE]):
        for number in re.finditer(rb"[0-9]{%d,}" % (bounds.digits + 1), TEXT.sub(b'""', data)):
            raise beyond(where, f"a number has {len(number.group())} digits", "digits")


def _reason(error: ValueError) -> str:
    reason = str(error)
    if "surrogate" in reason or "hex escape" in reason:
        return f"half of a surrogate pair, which UTF-8 cannot hold; {reason}"
    return reason
