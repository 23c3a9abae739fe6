"""Fold the ways in which Unicode writes one text: composed or not, with characters unseen."""

import re
import unicodedata
from functools import cache
from itertools import filterfalse

from bears.files.visible import FILLERS
from bears.language.scripts import SOUTH_EAST_ASIAN

_WORDS = f"[{SOUTH_EAST_ASIAN}\u0600-\u06ff\u0750-\u077f]"
_SEPARATOR = re.compile(f"(?<={_WORDS})[\u200b\u200c]+(?={_WORDS})")
"""What separates words of Thai, Khmer and others (ZWSP), and a word's parts in Persian (ZWNJ)."""


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
