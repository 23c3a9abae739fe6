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
        unknown: how many different numbers match no shown document.
        given_up: why the model refuses to answer; empty if it answers.
    """

    text: str
    positions: tuple[int, ...]
    unknown: int
    given_up: str = ""


def cited(answer: str, shown: int) -> Cited:
    """Read the markers of an answer.

    Args:
        shown: how many documents were shown; the first is ``[CITE:1]``.
    """
    text, numbers = answer, list[int]()
    for _ in range(PASSES):
        if not (contents := _MARKER.findall(text)):
            break
        for content in map("".join, contents):
            numbers += map(int, re.findall(r"\d+", content)) if re.search(r"\d", content) else [0]
        text = _MARKER.sub("", text)
    else:
        text = text.translate(_BRACKETS)
    unique = dict.fromkeys(numbers)
    given = tuple(number - 1 for number in unique if 1 <= number <= shown)
    return Cited(text.strip(), given, len(unique) - len(given))
