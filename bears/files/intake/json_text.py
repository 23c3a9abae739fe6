"""JSON and JSON Lines from outside, value by value.

These are refused, with their place: text that is not JSON or not UTF-8, half of a surrogate pair, a
repeated key in one object, NaN and Infinity unless the caller allows them, more than 200 nested
lists and objects, and integers of more than 4,300 digits. jiter checks all of that.
"""

import json
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import jiter

from bears.errors import FormatError
from bears.files.intake.files import decoded, numbered_lines, read_whole

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
