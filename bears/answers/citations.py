"""The markers by which an answer names its documents: ``[CITE:1]``."""

import re
from dataclasses import dataclass

# An opened one is a marker as well, as far as its numbers go: a model may forget to close it, and
# what follows them is the answer.
_MARKER = re.compile(
    r"(?:(?<!\s)\s+)?[\[［【]\s*CITE\s*[:：]"
    r"(?:([^\[\]［］【】\n]{0,200})[\]］】]|((?:\s?[,，、]?\s?\d{1,4}\b){0,40}))",
    re.IGNORECASE,
)
_BRACKETS = str.maketrans("", "", "[［【")
PASSES = 5
"""What is left of markers within markers may be one again."""


@dataclass(frozen=True, slots=True)
class Cited:
    """An answer and what it cites.

    Args:
        text: without any marker.
        positions: of the documents among those shown, from 0, as first cited.
        unknown: how many different numbers are of no document that was shown.
        given_up: why there is no answer, where the model refuses to give one.
    """

    text: str
    positions: tuple[int, ...]
    unknown: int
    given_up: str = ""


def cited(answer: str, shown: int) -> Cited:
    """Read the markers of an answer.

    Args:
        shown: how many documents were; the first is ``[CITE:1]``.
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
