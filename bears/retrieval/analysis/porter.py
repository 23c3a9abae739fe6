"""Porter's stemmer as its author published it in C and Java, which is Lucene's PorterStemmer.

Snowball's ``porter`` follows the article (Porter, 1980) instead. The published programs leave words
of one and two letters alone, replace ``bli`` rather than ``abli``, and know ``logi``.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SECOND = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_THIRD = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_FOURTH = "al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|ion|ou|ism|ate|iti|ous|ive|ize"


def _longest(suffixes: list[str]) -> re.Pattern[str]:
    return re.compile(f"(?:{'|'.join(sorted(suffixes, key=len, reverse=True))})$")


_SECOND_SUFFIX, _THIRD_SUFFIX = _longest(list(_SECOND)), _longest(list(_THIRD))
_FOURTH_SUFFIX = _longest(_FOURTH.split("|"))
_VOWELS = str.maketrans("aeiou", "VVVVV")
_NOT_VOWELS = re.compile("[^V]")


@lru_cache(maxsize=1 << 18)
def stem(word: str) -> str:
    """The stem of a word in lower case."""
    if len(word) <= 2:
        return word
    word = _plural(word)
    word = _past(word)
    if word.endswith("y") and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    word = _replaced(word, _SECOND_SUFFIX, _SECOND)
    word = _replaced(word, _THIRD_SUFFIX, _THIRD)
    return _final(_fourth(word))


def _shape(text: str) -> str:
    """``V`` for each vowel and ``c`` for each other letter; ``y`` after a consonant is a vowel."""
    if "y" not in text:
        return _NOT_VOWELS.sub("c", text.translate(_VOWELS))
    shape = ""
    for letter in text:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "V" if vowel else "c"
    return shape


def _measure(text: str) -> int:
    return _shape(text).count("Vc")


def _has_vowel(text: str) -> bool:
    return "V" in _shape(text)


def _double(text: str) -> bool:
    return len(text) > 1 and text[-1] == text[-2] and _shape(text)[-1] == "c"


def _short(text: str) -> bool:
    """Ends with consonant, vowel, consonant, the last of which is not w, x or y."""
    return _shape(text)[-3:] == "cVc" and text[-1] not in "wxy"


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word.removesuffix(suffix)
            return _restored(rest) if _has_vowel(rest) else word
    return word


def _restored(rest: str) -> str:
    if rest.endswith(("at", "bl", "iz")):
        return rest + "e"
    if _double(rest):
        return rest if rest[-1] in "lsz" else rest[:-1]
    return rest + "e" if _measure(rest) == 1 and _short(rest) else rest


def _replaced(word: str, suffix: re.Pattern[str], by: dict[str, str]) -> str:
    found = suffix.search(word)
    if found and _measure(word[: found.start()]) > 0:
        return word[: found.start()] + by[found[0]]
    return word


def _fourth(word: str) -> str:
    found = _FOURTH_SUFFIX.search(word)
    if not found:
        return word
    rest = word[: found.start()]
    if found[0] == "ion" and not rest.endswith(("s", "t")):
        return word
    return rest if _measure(rest) > 1 else word


def _final(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
