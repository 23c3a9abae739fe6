"""JSON and JSON Lines from outside, a value at a time.

Refused, naming the place: what is not JSON or not UTF-8, half of a surrogate pair, a key that
stands twice in one object, NaN and Infinity where nobody asked for them, more than 200 lists and
objects within one another, and integers of more than 4,300 digits. jiter checks all of it.
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
    """The value of a JSON file, or of bytes that hold one.

    Args:
        source: the file, or the bytes.
        where: what the bytes are, which messages begin with; a file is named by its path.
        nan: what becomes of bare NaN and Infinity, which are no JSON.
        halves: whether half of a surrogate pair is let in, by who asks for it again.

    Raises:
        FormatError: there is no such file, or its content is refused.
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
        nan: as of `json_value`.
        blank: whether lines of white space are left out, or refused.

    Raises:
        FormatError: naming the line that is refused.
    """
    for number, line in numbered_lines(path):
        if not (blank and line.isspace()):
            yield number, json_value(line, f"{path}, line {number}", nan)


def _reason(error: ValueError) -> str:
    reason = str(error)
    if _is_half(error):
        return f"half of a surrogate pair, which UTF-8 cannot hold; {reason}"
    return reason.replace("Detected duplicate key", "the key stands twice in one object:")


def _is_half(error: ValueError) -> bool:
    return "surrogate" in str(error) or "hex escape" in str(error)
