"""How the answers of a language are made comparable: its normal form, and the tokens of that."""

import re
import string
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

from bears.language.tags import primary
from bears.language.tags import unspaced as no_spaces

ASCII_PUNCTUATION = str.maketrans("", "", string.punctuation)
SAME = str.maketrans({"臺": "台"})

# White space is looked at once, from where it begins; else a long run of it takes hours.
_CITATION = re.compile(r"(?<!\s)\s*\[CITE:[^\[\]]*\]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_KOREAN_MARKS = re.compile(r"['\"《》<>〈〉()‘’]")
_GROUPED = re.compile(r"(?<=\d)[.,](?=\d)")
# A control character, so that none is left of the text's own.
_MARK = "\0"
_PARTED_MARKS = re.compile(r"(?<! )(?: +(?:\0.)+)+", re.DOTALL)
_FIRST_MARKS = re.compile(r"^(?: |\0.)+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Normalisation:
    """How answers are compared.

    Args:
        normal_form: of a text; two answers with the same one are the same answer.
        tokens: of a normal form, for token F1.
    """

    normal_form: Callable[[str], str]
    tokens: Callable[[str], list[str]]


def normalisation_of(language: str) -> Normalisation:
    """The rules for a language, by its BCP 47 tag: ``en``, ``ko``, ``zh-Hant-TW``, ``sl``, …"""
    if primary(language) == "en":
        return Normalisation(english, str.split)
    if primary(language) == "ko":
        return Normalisation(korean, lambda normal: list("".join(normal.split())))
    if no_spaces(language):
        return Normalisation(unspaced, str.split)
    return Normalisation(spaced, str.split)


def without_citations(text: str) -> str:
    """``text`` without the markers of its sources, ``[CITE:12]``."""
    return _CITATION.sub("", text)


def english(text: str) -> str:
    """Small letters, no ASCII punctuation, no a, an or the, single spaces.

    Source: the official evaluation of SQuAD, which those of HotpotQA and QASPER copy.
    """
    return " ".join(_ARTICLE.sub(" ", text.lower().translate(ASCII_PUNCTUATION)).split())


def korean(text: str) -> str:
    """Marks as spaces, small letters, no ASCII punctuation, single spaces; a syllable is a token.

    Syllables that are stored as their letters (NFD) are composed first.

    Source: the official evaluation of KorQuAD 1.0, whose F1 counts characters.
    """
    composed = unicodedata.normalize("NFC", text)
    plain = _KOREAN_MARKS.sub(" ", composed).lower().translate(ASCII_PUNCTUATION)
    return " ".join(plain.split())


def spaced(text: str) -> str:
    """Compatibility forms and case folded, no punctuation, single spaces; nothing is an article.

    The rule of `english` for languages with spaces that have no official one (Slovenian, German).
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(ASCII_PUNCTUATION)
    return " ".join("".join(c for c in folded if unicodedata.category(c)[0] != "P").split())


class _Parts(dict[int, str]):
    """What a character becomes in `unspaced`: itself in a run, or alone, or `_MARK` and a mark."""

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
    """One token a character, with a space between tokens; for scripts that part words by none.

    Compatibility forms (full width), case and 臺/台 fold. A run of letters that have case (Latin)
    and digits is one token, and 1,000 is 1000. Marks stay with their letter; punctuation and
    symbols part tokens and go.
    """
    folded = unicodedata.normalize("NFKC", text).casefold().translate(SAME)
    parted = _GROUPED.sub("", folded).translate(_PARTED)
    if _MARK in parted:
        # A mark that something parts from its letter goes back to it.
        parted = _PARTED_MARKS.sub(lambda marks: marks[0].replace(" ", "") + " ", parted)
        parted = _FIRST_MARKS.sub("", parted).replace(_MARK, "")
    return " ".join(parted.split())
