"""Normalize and tokenize the answers of a language, so that they can be compared."""

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from bears.language.tags import primary
from bears.language.tags import unspaced as no_spaces

ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
SAME = str.maketrans({"臺": "台"})

# The look-behind matches white space from its beginning only; otherwise a long run takes hours.
_CITATION = re.compile(r"(?<!\s)\s*\[CITE:[^\[\]]*\]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_KOREAN_MARKS = re.compile(r"['\"《》<>〈〉()‘’]")
_GROUPED = re.compile(r"(?<=\d)[.,](?=\d)")
# A control character; the text's own ones are removed.
_MARK = "\0"
_PARTED_MARKS = re.compile(r"(?<! )(?: +(?:\0.)+)+", re.DOTALL)
_FIRST_MARKS = re.compile(r"^(?: |\0.)+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Normalization:
    """How answers are compared.

    Args:
        normal_form: returns the normal form of a text; equal answers have equal normal forms.
        tokens: returns the tokens of a normal form, for token F1.
    """

    normal_form: Callable[[str], str]
    tokens: Callable[[str], list[str]]


def normalization_of(language: str) -> Normalization:
    """Return the rules for a language by its BCP 47 tag, such as ``en`` or ``zh-Hant-TW``."""
    if primary(language) == "en":
        return Normalization(english, str.split)
    if primary(language) == "ko":
        return Normalization(korean, lambda normal: list("".join(normal.split())))
    if no_spaces(language):
        return Normalization(unspaced, str.split)
    return Normalization(spaced, str.split)


def without_citations(text: str) -> str:
    """Remove citation markers such as ``[CITE:12]``."""
    return _CITATION.sub("", text)


def english(text: str) -> str:
    """Remove ASCII punctuation and articles, lower the case, and use single spaces.

    Source: the official evaluation of SQuAD, which those of HotpotQA and QASPER copy.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(ASCII_PUNCTUATION)).split())


def korean(text: str) -> str:
    """Turn marks into spaces, lower the case, remove ASCII punctuation, and use single spaces.

    Syllables that are stored as letters (NFD) are composed first. A token is a syllable.

    Source: the official evaluation of KorQuAD 1.0, whose F1 counts characters.
    """
    composed = unicodedata.normalize("NFC", text)
    plain = _KOREAN_MARKS.sub(" ", composed).lower().translate(ASCII_PUNCTUATION)
    return " ".join(plain.split())


def spaced(text: str) -> str:
    """Remove punctuation, fold compatibility forms and case, and use single spaces.

    This is the rule of `english` without its articles, for languages with spaces that have no
    official rule (Slovenian, German).
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(ASCII_PUNCTUATION)
    return " ".join("".join(c for c in folded if unicodedata.category(c)[0] != "P").split())


class _Parts(dict[int, str]):
    """Map a character to what `unspaced` makes of it: itself, or `_MARK` and a mark."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = unicodedata.category(character)
        if kind[0] == "M":
            part = _MARK + character
        elif kind[0] not in "LN":
            part = " "
        else:
            in_run = kind == "Nd" or character.upper() != character
            part = character if in_run else f" {character} "
        self[code] = part
        return part


_PARTED = _Parts()


def unspaced(text: str) -> str:
    """Make a token of each character, for scripts without spaces between words.

    Compatibility forms (full width), case and 臺/台 are folded. A run of letters that have case
    (Latin) and digits is one token, and 1,000 becomes 1000. Marks stay with their letter.
    Punctuation and symbols separate tokens and are removed.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(SAME)
    parted = _GROUPED.sub("", folded).translate(_PARTED)
    if _MARK in parted:
        # A mark that was separated from its letter returns to it.
        parted = _PARTED_MARKS.sub(lambda marks: marks[0].replace(" ", "") + " ", parted)
        parted = _FIRST_MARKS.sub("", parted).replace(_MARK, "")
    return " ".join(parted.split())
