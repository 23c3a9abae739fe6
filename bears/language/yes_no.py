"""Recognize a yes, a no or a refusal to answer, by one rule for gates, translation and scores."""

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from bears.files.intake.yaml_text import table_of
from bears.language.tags import primary

YesNo = Literal["yes", "no"]

_TABLE = table_of(__file__)
WORDS: Mapping[str, Sequence[Sequence[str]]] = _TABLE["words"]
"""Words that are a whole answer, by primary subtag; other languages have none here."""
_BEGINNINGS: Mapping[str, Sequence[str]] = _TABLE["beginnings"]
"""Beginnings of longer answers in languages where one word can contain another."""


def yes_or_no(answer: str, language: str) -> YesNo | None:
    """Return whether ``answer`` is a yes or a no of its language (a BCP 47 tag) and nothing else.

    Case, full width and punctuation around it are ignored.
    """
    return means(answer, *WORDS.get(primary(language), ((), ())))


def means(answer: str, yes: Collection[str], no: Collection[str]) -> YesNo | None:
    """Return what `yes_or_no` returns, for the given words."""
    plain = _plain(answer)
    if plain in map(_plain, yes):
        return "yes"
    return "no" if plain in map(_plain, no) else None


def first_yes_or_no(answer: str, language: str) -> YesNo | None:
    """Return the meaning of the first word of yes or no in ``answer``.

    In scripts without spaces, and in Korean, the answer must begin with the word.
    """
    tag, plain = primary(language), _plain(answer)
    if tag in _BEGINNINGS:
        patterns = [re.compile(f"^(?:{pattern})") for pattern in _BEGINNINGS[tag]]
    elif tag in WORDS:
        patterns = [re.compile(rf"\b(?:{'|'.join(words)})\b") for words in WORDS[tag]]
    else:
        return None
    positive, negative = (pattern.search(plain) for pattern in patterns)
    if positive and (not negative or positive.start() < negative.start()):
        return "yes"
    return "no" if negative else None


def _plain(text: str) -> str:
    return re.sub(r"^\W+|(?<!\W)\W+$", "", unicodedata.normalize("NFKC", text).casefold())


LITERAL = "Unanswerable"
"""QASPER's word, which files of answers use in every language."""


def says_unanswerable(answer: str, form: str) -> bool:
    """Return whether ``answer`` is the language's ``form`` or the literal, and nothing else.

    Case, full width, white space and punctuation around it are ignored.
    """
    return means(answer, (form, LITERAL), ()) is not None
