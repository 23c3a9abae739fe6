"""What a server says of time and numbers in the headers of its answers."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT_S = 300.0
"""The longest wait that a server may impose at once."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(text: str) -> float | None:
    """Seconds of a duration such as ``1s``, ``6m0s``, ``120ms`` or ``7``; None if it is none."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that the server asks to wait, at most `LONGEST_WAIT_S`.

    They are in ``retry-after-ms`` or in ``retry-after``, as seconds or as a date.

    Args:
        headers: with names in small letters.
        now: the time that a date is compared with.
    """
    milliseconds = duration(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return min(LONGEST_WAIT_S, milliseconds / 1000)
    text = headers.get("retry-after", "")
    seconds = duration(text)
    if seconds is not None:
        return min(LONGEST_WAIT_S, seconds)
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(LONGEST_WAIT_S, max(0.0, seconds))


def number(text: str | None) -> float | None:
    """Return the finite number that a header holds, or None."""
    try:
        value = math.nan if text is None else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
