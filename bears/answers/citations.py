"""The markers with which an answer cites its documents: ``[CITE:1]``."""

import re
from dataclasses import dataclass
from unicodedata import normalize

# An open marker counts up to its last number: a model may forget to close it, and the rest is the
# answer.
_MARKER = re.compile(
    r"(?:(?<!\s)\s+)?[\[［【]\s*CITE\s*[:：]"
    r"(?:([^\[\]［］【】\n]{0,200})[\]］】]|((?:\s?[,，、]?\s?\d{1,4}\b){0,40}))",
    re.IGNORECASE,
)
_LIST = r"(?:doc|source|\^)?\s?\d{1,4}(?:\s*[,;]\s*(?:doc|source|\^)?\s?\d{1,4}|\s?[-–]\s?\d{1,4})*"
_FOREIGN = re.compile(
    rf"(?m:^\[\^\d+\]:.*$)|\[({_LIST})\](?!\()|【(\d{{1,4}})†[^】\n]*】"
    r"|(?<=\s)\((\d{1,3})\)(?=\s*(?:[.!?。！？]|$))|(?<=[.!?。！？])\s?\((\d{1,3})\)"
    r"|(?:(?<=\w{3})|(?<=[.,!?。！？]))([¹²³⁰⁴-⁹]+(?:[,⋅][¹²³⁰⁴-⁹]+)*)",
    re.IGNORECASE | re.MULTILINE,
)
"""The markers of other systems: ``[1]``, ``[2, 3]``, ``[1-3]``, ``[doc1]``, ``[^1]`` with its note,
``【3†source】``, ``(1)`` at the end of a sentence, and superscripts after a word."""
_LIKE = re.compile(r"\[(?!CITE)[^\]\n]{0,40}\d[^\]\n]{0,40}\](?!\()|【[^】\n]{1,80}】")
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


def as_ours(answer: str, shown: int) -> tuple[str, list[str]]:
    """Return an answer with the markers of other systems as ours, and what only looks like them.

    Args:
        shown: how many documents there are; a larger number in parentheses or above the line does
            not cite.
    """

    def replaced(found: re.Match[str]) -> str:
        *_, inner, after, raised = found.groups()
        numbers = normalize("NFKC", next(filter(None, found.groups()), ""))
        if not numbers:
            return ""
        several = (inner or after or raised) and any(
            not 1 <= int(each) <= shown for each in re.findall(r"\d+", numbers)
        )
        return found[0] if several else f"[CITE:{','.join(map(str, _numbers_in(numbers)))}]"

    text = _FOREIGN.sub(replaced, answer)
    return text, _LIKE.findall(text)


def _numbers_in(listed: str) -> list[int]:
    """Return the numbers of a list, those within its ranges too."""
    found: list[int] = []
    for first, last in re.findall(r"(\d+)(?:\s?[-–]\s?(\d+))?", listed):
        found += range(int(first), max(int(first), int(last or 0)) + 1)
    return found


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
