"""Measure how much of a text is in a language's script, and fold how Unicode writes one text."""

import re
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import filterfalse

from bears.files.visible import FILLERS

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7af"
SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Ranges of regular expressions: Thai, Lao, Myanmar and Khmer. Like Han and kana they are written
without spaces between words; Hangul has spaces, and suffixes that are glued on."""
_WORDS = f"[{SOUTH_EAST_ASIAN}\u0600-\u06ff\u0750-\u077f]"
_SEPARATOR = re.compile(f"(?<={_WORDS})[\u200b\u200c]+(?={_WORDS})")
"""What separates words of Thai, Khmer and others (ZWSP), and a word's parts in Persian (ZWNJ)."""


@lru_cache(maxsize=65536)
def _script(character: str) -> str:
    """Return the script of a letter, the beginning of its Unicode name: LATIN, CJK, HANGUL, …"""
    # Compatibility forms (full width, half width) are named after their width.
    plain = unicodedata.normalize("NFKC", character)[0]
    return unicodedata.name(plain, "").split(" ", 1)[0]


# 々 is an IDEOGRAPHIC ITERATION MARK, ー a KATAKANA-HIRAGANA PROLONGED SOUND MARK.
_NAMES = {"HAN": ("CJK", "IDEOGRAPHIC"), "KANA": ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA")}
_SYLLABIC = {*_NAMES["HAN"], *_NAMES["KANA"], "HANGUL"}


def letters(text: str) -> int:
    """Count the letters of ``text``."""
    return sum(map(str.isalpha, text))


def script_share(text: str, scripts: Sequence[str]) -> float:
    """Return the share of a text that is in one of ``scripts``; 1 for a text without letters.

    A character of a script that writes syllables or words (Han, kana, Hangul) counts one. A run of
    letters of any other script counts one as a whole. So a few Chinese characters in an English
    text weigh little, and a foreign name in a Chinese text does not outweigh it.
    """
    wanted = {name for script in scripts for name in _NAMES.get(script, (script,))}
    inside = total = 0
    previous = ""
    for character in text:
        script = _script(character) if character.isalpha() else ""
        if script and (script in _SYLLABIC or script != previous):
            total += 1
            inside += script in wanted
        previous = script
    return inside / total if total else 1.0


def script_of(character: str) -> frozenset[str]:
    """Return every name of a letter's script: ``{CJK, HAN}``, ``{HIRAGANA, KANA}``, …"""
    name = _script(character)
    return frozenset({name, *(group for group, names in _NAMES.items() if name in names)})


@cache
def ignorable(character: str) -> bool:
    """Return whether a character is invisible, white space aside.

    These are Unicode's default ignorable code points: soft hyphens, joiners, marks of direction,
    variation selectors and fillers.
    """
    name = unicodedata.name(character, "")
    selects = "VARIATION SELECTOR" in name or name == "COMBINING GRAPHEME JOINER"
    return selects or unicodedata.category(character) == "Cf" or character in FILLERS


def folded(text: str) -> str:
    """Return a text in NFKC without ignorable characters.

    Composed and decomposed letters, ligatures, and forms by width or position become one.
    """
    if text.isascii():
        return text
    seen = filterfalse(ignorable, _SEPARATOR.sub(" ", text))
    return unicodedata.normalize("NFKC", "".join(seen))
