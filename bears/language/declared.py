"""Whether the letters and words of a text fit the language declared for it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from typing import Any

from bears.language.scripts import letters, script_of, script_share
from bears.language.tags import SCRIPTS, primary

SURE = 0.95
"""Least probability of a language and its kin that counts as knowing it."""
# Written so alike that a page does not always tell them apart, or known to the model only as the
# other: whoever declares one of them is not contradicted by another one.
_KIN = [
    set(row.split())
    for row in (
        *("bs hr sr", "id jv ms su", "nb nn no", "ar ary arz", "ckb ku sdh", "bcl ceb fil tl"),
        *("hbo he yi", "en pcm", "nds de", "st tn nso", "xh zu", "sd ur", "bo dz", "az azb"),
        *("es ast ext", "hi mai"),
    )
]


@cache
def _model() -> Any:
    # A second, which whoever has texts of other scripts does not spend.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def kin(language: str) -> Set[str]:
    """The languages that one may be taken for, itself among them."""
    return {language}.union(*(group for group in _KIN if language in group))


def identified(text: str) -> str:
    """The primary subtag of the language of ``text``; empty where that is not sure."""
    ranked = _model().rank(text)
    best = str(ranked[0][0])
    mass = sum(float(share) for name, share in ranked if name in kin(best))
    # zxx: no language, such as program code.
    return best if mass > SURE and best != "zxx" else ""


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
