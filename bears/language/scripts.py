"""Measure by its characters how much of a text is in a language's script."""

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"
HANGUL = "\uac00-\ud7af"
SOUTH_EAST_ASIAN = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
"""Ranges of regular expressions: Thai, Lao, Myanmar and Khmer. Like Han and kana they are written
without spaces between words; Hangul has spaces, and suffixes that are glued on."""


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
