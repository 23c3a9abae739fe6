"""Long texts in parts, so that memory follows a part and not the longest text."""

import re
from collections.abc import Iterator

PART, WINDOW = 100_000, 1_000
"""Characters that are read at once, and those before its end where a boundary is sought."""


def parts(text: str, boundary: re.Pattern[str]) -> Iterator[str]:
    """Parts of a text of at most `PART` characters, without the boundaries between them.

    Args:
        boundary: a character at which the text may be parted, since nothing goes across it. Where
            a part has none near its end, it is cut all the same.
    """
    start = 0
    while len(text) - start > PART:
        end = start + PART
        found = [match.start() for match in boundary.finditer(text, end - WINDOW, end)]
        yield text[start : found[-1] if found else end]
        start = found[-1] + 1 if found else end
    yield text[start:]
