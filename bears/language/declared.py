"""Whether the letters and words of a text fit the language declared for it."""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from bears.language.identified import identified, kin
from bears.language.scripts import letters, script_of, script_share
from bears.language.tags import SCRIPTS, primary

LENGTH = 1000
"""Characters of a text that are looked at."""
MOST, SOME = 0.5, 0.1
"""Above these shares of texts that contradict it a tag is wrong, or worth a warning."""
_BLOCK = 300
_TRADITIONAL, _SIMPLIFIED = ("hant", "tw", "hk", "mo"), ("hans", "cn", "sg", "my")
_SYLLABIC = {"HAN", "KANA", "HANGUL"}


# A text is asked about by itself, and as one of its set.
@lru_cache(maxsize=4096)
def contradiction(text: str, tag: str) -> str:
    """What in ``text`` speaks against its language being ``tag``; empty where nothing does.

    Too little of it is in the language's scripts (`bears.language.scripts.script_share`); Japanese
    has no kana, or Chinese much; traditional Chinese is written with simplified characters, or the
    other way round; a language of letters is surely another one (`identified`).
    """
    if not letters(text):
        return ""
    scripts = SCRIPTS[primary(tag)]
    if script_share(text, scripts) < 0.3:
        commonest, _ = Counter(script_of(c) for c in text if c.isalpha()).most_common(1)[0]
        return f"{'/'.join(sorted(commonest))} script"
    if "HAN" in scripts and "LATIN" not in scripts:
        return _asian(text, tag)
    if _SYLLABIC.isdisjoint(scripts):
        found = identified(text)
        return "" if not found or primary(tag) in kin(found) else f"language {found}"
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


def disagreeing(texts: Iterable[str], tag: str) -> tuple[str, float]:
    """The commonest contradiction among texts, and the share of those that have one.

    Texts that say nothing against the tag by themselves are asked again joined, since few letters
    tell a script, but seldom a language.
    """
    looked_at = [text[:LENGTH] for text in texts if letters(text)]
    found = Counter(contradiction(text, tag) for text in looked_at)
    for block in _blocks(text for text in looked_at if not contradiction(text, tag)):
        if reason := contradiction("\n".join(block), tag):
            found[reason] += len(block)
    del found[""]
    return (found.most_common(1)[0][0], found.total() / len(looked_at)) if found else ("", 0.0)


def _blocks(texts: Iterable[str]) -> Iterator[list[str]]:
    """Texts in their order, as many at a time as hold letters enough."""
    block: list[str] = []
    for text in texts:
        block.append(text)
        if sum(map(letters, block)) >= _BLOCK:
            yield block
            block = []
    if block:
        yield block
