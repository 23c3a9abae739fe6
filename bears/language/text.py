"""A translation with its source, and properties of it that several gates need."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from bears.language.scripts import letters

T = TypeVar("T")
Field = Literal["question", "gold_answer", "content"]

QUOTES = ("“”", '""')
"""Pairs of quotation marks that any language may use beside its own."""

_INNERMOST = re.compile(
    r"\([^()（）]*\)|（[^()（）]*）|\([^()（）]*）|（[^()（）]*\)|［[^［］]*］|\[[^\[\]]*\]"
)
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Text:
    """One translation.

    Args:
        field: which field of a record it is.
        source: the text before translation.
        translation: the text after it.
        source_language, target: BCP 47 tags.
        answers: for a question, its gold answer as known, before and after translation.
    """

    field: Field
    source: str
    translation: str
    source_language: str
    target: str
    answers: tuple[str, ...] = ()


def without_parentheses(text: str) -> str:
    """Remove text in parentheses or square brackets, nested ones included."""
    shorter = _INNERMOST.sub("", text)
    return shorter if shorter == text else without_parentheses(shorter)


def without_marked(text: str, pairs: Iterable[str]) -> str:
    """Remove the text between the two marks of any of ``pairs``."""
    for pair in pairs:
        text = re.sub(f"{re.escape(pair[0])}[^{re.escape(pair)}]*{re.escape(pair[1])}", " ", text)
    return text


def parenthesised(text: str) -> list[str]:
    """Return the texts in the innermost parentheses, in order."""
    return [found.group()[1:-1].strip() for found in _INNERMOST.finditer(text)]


def words(text: str) -> list[str]:
    """Return runs of letters; hyphens and apostrophes join them."""
    return _WORD.findall(text)


def plain_words(text: str) -> list[str]:
    """Return the words of two letters or more that begin with a small letter, so no names."""
    return [word for word in words(text) if word[0].islower() and len(word) > 1]


def unspaced(text: str) -> int:
    """Count the letters of scripts without capitals: Han, kana, Hangul, …"""
    return sum(c.isalpha() and c.lower() == c.upper() for c in text)


def has_content(text: str) -> bool:
    """Return whether ``text`` has a letter or a digit."""
    return letters(text) > 0 or any(character.isdigit() for character in text)


def grouped(items: Iterable[T], size: Callable[[T], int], enough: int) -> Iterator[list[T]]:
    """Yield items in their order, in groups that end as soon as their sizes add up to enough."""
    group, total = list[T](), 0
    for item in items:
        group.append(item)
        total += size(item)
        if total >= enough:
            yield group
            group, total = [], 0
    if group:
        yield group
