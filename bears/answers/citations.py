"""The markers with which an answer cites its documents: ``[CITE:1]``."""

import re
from dataclasses import dataclass

# An open marker counts up to its last number: a model may forget to close it, and the rest is the
# answer.
_MARKER = re.compile(
    r"(?:(?<!\s)\s+)?[\[［【]\s*CITE\s*[:：]"
    r"(?:([^\[\]［］【】\n]{0,200})[\]］】]|((?:\s?[,，、]?\s?\d{1,4}\b){0,40}))",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("", "", "[［【")
PASSES = 5
"""The rest of nested markers may be a marker again."""


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer and its citations.

    Args:
        text: without markers.
        positions: of the cited documents among those shown, from 0, in the order of citation.
        places: of each citation: the number of characters before it, and the position of the
            document.
        unknown: how many different numbers match no shown document.
        given_up: why the model refuses to answer; empty if it answers.
    """

    text: str
    positions: tuple[int, ...]
    unknown: int
    given_up: str = ""
    places: tuple[tuple[int, int], ...] = ()


def cited(answer: str, shown: int) -> Cited:
    """Read the markers of an answer.

    Args:
        shown: how many documents were shown; the first is ``[CITE:1]``.
    """
    text, places = answer, list[tuple[int, int]]()
    for _ in range(PASSES):
        if not (markers := [*_MARKER.finditer(text)]):
            break
        removed = 0
        for marker in markers:
            numbers = re.findall(r"\d+", f"{marker[1]}{marker[2]}") or ["0"]
            places += [(marker.start() - removed, int(number)) for number in numbers]
            removed += marker.end() - marker.start()
        text = _MARKER.sub("", text)
    else:
        text = text.translate(_BRACKETS)
    unique = dict.fromkeys(number for _, number in places)
    given = tuple(number - 1 for number in unique if 1 <= number <= shown)
    begun = len(text) - len(text.lstrip())
    known = sorted(
        (max(end - begun, 0), number - 1) for end, number in places if number - 1 in given
    )
    return Cited(text.strip(), given, len(unique) - len(given), places=tuple(known))
