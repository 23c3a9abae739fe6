"""An answer that is one of several: "Ada" where the passage says "by Ada, Bo and Cy"."""

import re
from collections.abc import Sequence

ITEM = r"[^,;.()]{1,40}?"


def one_of_a_list(answer: str, text: str, joins: Sequence[str]) -> bool:
    """Whether an answer stands in a text as one of a list, and nowhere else.

    Args:
        joins: what stands before the last of a list (" and "), or between any two ("、"). Where
            spaces stand around it, only what begins with a capital or a digit is of the list.
    """
    places = [match.span() for match in re.finditer(re.escape(answer), text)] if answer else []
    return bool(places) and all(
        any(_joined(text[:start], text[end:], join) for join in joins) for start, end in places
    )


def _joined(before: str, after: str, join: str) -> bool:
    if not join.startswith(" "):
        return before.endswith(join) or after.startswith(join)
    more = re.match(rf"((?:, {ITEM})*),?{join}(\S)", after)
    if more and all(map(_names, [*more[1].split(", ")[1:], more[2]])):
        return True
    last = re.search(rf"(\S+?),?{join}$", before)
    return bool(last and _names(last[1]))


def _names(item: str) -> bool:
    return item[:1].isupper() or item[:1].isdigit()
