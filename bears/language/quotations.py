"""Find a quotation in a text that was wrapped, converted or edited since it was quoted."""

import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cache, cached_property
from typing import NamedTuple

from rapidfuzz import fuzz

from bears.types import Question, Span

LINK = re.compile(r"(?<=\])\([^()\s]*\)")
SIMILAR = 90.0
"""The least similarity of a passage that counts as the quotation, of 100: the share of equal
letters and digits in the best alignment (`rapidfuzz.fuzz.partial_ratio_alignment`)."""
CLEAR = 5.0
"""How much less similar the second-best passage must be."""
SHORTEST = 20
"""The fewest letters and digits of a quotation that is found by its similarity."""
NUMBER = re.compile(r"\d+")


class Match(NamedTuple):
    """The first place of a quotation.

    Attributes:
        start, end: in characters, the end exclusive.
        similarity: of letters and digits, 100 if they are equal.
        times: how often the text has it.
    """

    start: int
    end: int
    similarity: float = 100.0
    times: int = 1


class QuotedText:
    """A text in which quotations are searched."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quotation: str, similar: bool = True) -> Match | None:
        """Return the place of a quotation, or None.

        It is searched exactly, but for white space; then by its letters and digits; then by
        similarity. A passage is similar enough if it reaches `SIMILAR`, has the quotation's
        numbers, and every other passage is less similar by `CLEAR`.

        Args:
            similar: whether to search by similarity.
        """
        for fold, (folded, places) in ((_visible, self._visible), (_letters, self._letters)):
            wanted = _folded(quotation, fold)[0]
            if wanted and (at := folded.find(wanted)) >= 0:
                last = places[at + len(wanted) - 1]
                return Match(places[at], last + 1, times=folded.count(wanted))
        return self._similar(quotation) if similar else None

    def _similar(self, quotation: str) -> Match | None:
        wanted, (folded, places) = letters_of(quotation), self._letters
        if not SHORTEST <= len(wanted) <= len(folded):
            return None
        best = fuzz.partial_ratio_alignment(wanted, folded, score_cutoff=SIMILAR)
        if best is None:
            return None
        match = Match(places[best.dest_start], places[best.dest_end - 1] + 1, best.score)
        passage = self.text[match.start : match.end]
        if Counter(NUMBER.findall(quotation)) - Counter(NUMBER.findall(passage)):
            return None
        others = folded[: best.dest_start], folded[best.dest_end :]
        limit = best.score - CLEAR
        twice = any(fuzz.partial_ratio(wanted, part, score_cutoff=limit) for part in others if part)
        return None if twice else match

    @cached_property
    def _visible(self) -> tuple[str, "array[int]"]:
        return _folded(self.text, _visible)

    @cached_property
    def _letters(self) -> tuple[str, "array[int]"]:
        return _folded(self.text, _letters)


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, without case, accents and addresses of links."""
    return _folded(text, _letters)[0]


def _folded(text: str, fold: Callable[[str], str]) -> tuple[str, "array[int]"]:
    """Return what is left of each character of a text, and the position of that character."""
    if fold is _letters:
        text = LINK.sub(lambda found: "\0" * len(found[0]), text)
    parts, places = list[str](), array("L")
    for place, character in enumerate(text):
        if kept := fold(character):
            parts.append(kept)
            places.extend([place] * len(kept))
    return "".join(parts), places


def _visible(character: str) -> str:
    return "" if character.isspace() else character


@cache
def _letters(character: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKD", character).casefold()))


def found_again(questions: Iterable[Question], contents: Mapping[str, str]) -> Iterable[Question]:
    """Yield the questions with their gold spans where the documents have the quotations now.

    A span whose quotation is not in its document any more is lost.

    Args:
        contents: doc_id to text.
    """
    texts: dict[str, QuotedText] = {}

    def again(span: Span) -> Span:
        text = contents.get(span.doc_id, "")
        if text[span.start : span.end] == span.quotation:
            return span
        match = texts.setdefault(span.doc_id, QuotedText(text)).find(span.quotation)
        start, end = (match.start, match.end) if match else (0, 0)
        return replace(span, start=start, end=end)

    for question in questions:
        spans = tuple(map(again, question.gold_spans))
        yield replace(question, gold_spans=spans) if spans != question.gold_spans else question
