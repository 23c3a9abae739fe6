"""Lucene's StandardTokenizer: words by the rules of Unicode's annex 29 (word boundaries)."""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from itertools import groupby

LONGEST = 255
"""Characters of a token; a longer word becomes several tokens, as in Lucene."""

# The parts of regular expressions' classes.
_SINGLE = (
    "\u3005-\u3007\u3021-\u3029\u3041-\u3096\u309d-\u309f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001b000-\U0001b122\U00020000-\U0003ffff"
)
_KATAKANA = "\u3031-\u3035\u309b\u309c\u30a0-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9d"
_BETWEEN_LETTERS = ":\u00b7\u0387\u055f\u05f4\u2027\ufe13\ufe55\uff1a"
_BETWEEN_DIGITS = ",;\u037e\u0589\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b"
_BETWEEN_EITHER = ".'\u2018\u2019\u2024\ufe52\uff07\uff0e"


def tokens(text: str) -> list[str]:
    """Return the words of a text; Han characters and hiragana one by one, katakana in runs.

    Unlike in Lucene, emoji are left out, and U+202F, a space, does not join words.
    """
    if text.isascii() and text.isalpha() and len(text) <= LONGEST:
        return [text]
    return _pattern().findall(text)


@cache
def _pattern() -> re.Pattern[str]:
    classes = _classes()
    letters, digits, marks = classes["letter"], classes["digit"], classes["mark"]
    joiners = classes["joiner"]
    more = f"{{0,{LONGEST - 1}}}"
    return re.compile(
        f"[{joiners}]*[{letters}{digits}](?:[{letters}{digits}{joiners}{marks}]"
        f"|(?<=[{letters}{marks}])[{_BETWEEN_LETTERS}{_BETWEEN_EITHER}](?=[{letters}])"
        f"|(?<=[{digits}{marks}])[{_BETWEEN_DIGITS}{_BETWEEN_EITHER}](?=[{digits}])){more}"
        f"|[{_KATAKANA}][{_KATAKANA}{marks}]{more}"
        f"|[{_SINGLE}][{marks}]*"
    )


def _classes() -> dict[str, str]:
    """Return the parts of classes, made from Python's own Unicode tables."""
    by_kind: dict[str, list[int]] = {"letter": [], "digit": [], "mark": [], "joiner": []}
    other = re.compile(f"[{_SINGLE}{_KATAKANA}\u200b]")
    for code in range(0x20000):  # only Han characters follow
        kind = _kind(chr(code))
        if kind and not other.match(chr(code)):
            by_kind[kind].append(code)
    return {kind: _ranges(codes) for kind, codes in by_kind.items()}


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "L" or category == "Nl" or "\u24b6" <= character <= "\u24e9":
        return "letter"
    if category[0] == "M" or category == "Cf":
        return "mark"
    if category == "Pc":
        return "joiner"
    return "digit" if category == "Nd" else ""


def _ranges(codes: Iterable[int]) -> str:
    """Return ascending codes as ``a-z`` parts of a class."""
    runs = (list(run) for _, run in groupby(enumerate(codes), key=lambda pair: pair[1] - pair[0]))
    return "".join(f"{re.escape(chr(run[0][1]))}-{re.escape(chr(run[-1][1]))}" for run in runs)
