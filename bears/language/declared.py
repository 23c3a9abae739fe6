"""Whether the characters of a text, and its commonest words, fit the language declared for it."""

import re
from collections import Counter
from collections.abc import Sequence

from bears.language.scripts import letters, script_of, script_share
from bears.language.tags import SCRIPTS, primary

NOT_ENGLISH = "hardly any English"
"""Less sure than the others: program code and lists of names are so too."""
_ENGLISH = re.compile(r"\b(?:the|of|and|to|is|that|for)\b", re.I)
_TRADITIONAL, _SIMPLIFIED = ("hant", "tw", "hk", "mo"), ("hans", "cn", "sg", "my")


def contradiction(text: str, tag: str) -> str:
    """What in ``text`` speaks against its language being ``tag``; empty where nothing does.

    Too little of it is in the language's scripts (`bears.language.scripts.script_share`); Japanese
    has no kana, or Chinese much; traditional Chinese is written with simplified characters, or the
    other way round; another language of Latin script has English words, or English has none. The
    last two need texts of some length.
    """
    scripts = SCRIPTS[primary(tag)]
    if script_share(text, scripts) < 0.3:
        commonest, _ = Counter(script_of(c) for c in text if c.isalpha()).most_common(1)[0]
        return f"{'/'.join(sorted(commonest))} script"
    if "HAN" in scripts and "LATIN" not in scripts:
        return _asian(text, tag)
    if scripts == ("LATIN",) and len(words := text.split()) >= 30:
        english = len(_ENGLISH.findall(text)) / len(words) > 0.08
        if english != (primary(tag) == "en"):
            return "English" if english else NOT_ENGLISH
    return ""


def _asian(text: str, tag: str) -> str:
    kana = script_share(text, ["KANA"])
    if "KANA" in SCRIPTS[primary(tag)]:
        return "no kana" if kana < 0.05 and letters(text) >= 20 and primary(tag) == "ja" else ""
    if kana > 0.3:
        return "Japanese"
    simplified, traditional = _only_in(text, "gb2312", "big5"), _only_in(text, "big5", "gb2312")
    parts = tag.lower().split("-")[1:]
    if simplified > traditional and any(part in _TRADITIONAL for part in parts):
        return "simplified characters"
    if traditional > simplified and any(part in _SIMPLIFIED for part in parts):
        return "traditional characters"
    return ""


def _only_in(text: str, charset: str, other: str) -> int:
    """How many characters one national character set has and the other lacks."""
    return len(_encodable(text, charset) - _encodable(text, other))


def _encodable(text: str, charset: str) -> set[str]:
    return {c for c in set(text) if "\u4e00" <= c <= "\u9fff" and c.encode(charset, "ignore")}


def disagreeing(texts: Sequence[str], tag: str) -> tuple[str, int]:
    """The commonest contradiction among ``texts``, and how many of them have one."""
    found = Counter(reason for text in texts if (reason := contradiction(text, tag)))
    return (found.most_common(1)[0][0], found.total()) if found else ("", 0)
