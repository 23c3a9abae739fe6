"""Recognize a yes, a no or a refusal to answer, by one rule for gates, translation and scores."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from typing import Literal

from bears.language.tags import primary

YesNo = Literal["yes", "no"]

WORDS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "de": (("ja", "jawohl"), ("nein",)),
    "en": (("yes",), ("no",)),
    "es": (("sí",), ("no",)),
    "fr": (("oui",), ("non",)),
    "it": (("sì",), ("no",)),
    "ja": (("はい", "ええ", "そうです", "是"), ("いいえ", "いえ", "違います", "否")),
    "ko": (("예", "네", "그렇다", "맞다"), ("아니요", "아니오", "아니다", "아뇨")),
    "nl": (("ja",), ("nee",)),
    "pt": (("sim",), ("não",)),
    "ru": (("да",), ("нет",)),
    "sl": (("da", "ja", "drži"), ("ne", "ni")),
    "zh": (("是", "是的", "對", "对"), ("否", "不", "不是", "不對", "不对")),
}
"""Words that are a whole answer, by primary subtag; other languages have none here."""

_BEGINNINGS = {
    "ja": ("はい|ええ|そうです", "いいえ|いえ|違"),
    "ko": (r"(?:예|네)\b|그렇|맞", "아니|아뇨"),
    "zh": ("[是對对有會会]|可以", "[否不沒没無无非]"),
}
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
