"""Check whether the letters and words of a text fit the language declared for it."""

from collections import Counter
from collections.abc import Iterable, Set
from functools import cache, lru_cache
from typing import Any

from bears.files.intake.yaml_text import table_of
from bears.language.scripts import letters, script_of, script_share
from bears.language.tags import SCRIPTS, primary
from bears.language.text import grouped

SURE = 0.95
"""A language is certain if it and its kin have at least this probability."""
# These are so similar that one page may not distinguish them, or the model knows only one of them.
# A text in one language of a group does not contradict another one.
_KIN = [set(row.split()) for row in table_of(__file__)]


@cache
def _model() -> Any:
    # The import takes a second, and texts in many scripts do not need it.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def kin(language: str) -> Set[str]:
    """Return the languages that one may be mistaken for, including itself."""
    return {language}.union(*(group for group in _KIN if language in group))


def identified(text: str) -> str:
    """Return the primary subtag of the language of ``text``; empty if it is not certain."""
    ranked = _model().rank(text)
    best = str(ranked[0][0])
    mass = sum(float(share) for name, share in ranked if name in kin(best))
    # zxx means that there is no language, for example in program code.
    return best if mass > SURE and best != "zxx" else ""


LENGTH = 1000
"""How many characters of a text are looked at."""
MOST, SOME = 0.5, 0.1
"""A tag is wrong, or worth a warning, if a greater share of texts contradicts it."""
_BLOCK = 300
_TRADITIONAL, _SIMPLIFIED = ("hant", "tw", "hk", "mo"), ("hans", "cn", "sg", "my")
_SYLLABIC = {"HAN", "KANA", "HANGUL"}


# A text is checked by itself and as one of a set.
@lru_cache(maxsize=4096)
def contradiction(text: str, tag: str) -> str:
    """Return what in ``text`` contradicts the language ``tag``; empty if nothing does.

    Too little of it is in the language's scripts (`bears.language.scripts.script_share`); Japanese
    has no kana, or Chinese has many; traditional Chinese is written with simplified characters, or
    the other way round; a language of letters is certainly another one (`identified`).
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
    """Count the characters that one national character set has and the other lacks."""
    han = {c for c in text if "\u4e00" <= c <= "\u9fff"}
    return sum(bool(c.encode(charset, "ignore") and not c.encode(other, "ignore")) for c in han)


def disagreeing(texts: Iterable[str], tag: str) -> tuple[str, float]:
    """Return the commonest contradiction among texts, and the share of texts that have one.

    Texts without a contradiction of their own are joined and checked again, because a few letters
    are enough to identify a script, but seldom enough to identify a language.
    """
    looked_at = [text[:LENGTH] for text in texts if letters(text)]
    found = Counter(contradiction(text, tag) for text in looked_at)
    fitting = (text for text in looked_at if not contradiction(text, tag))
    for block in grouped(fitting, letters, _BLOCK):
        if reason := contradiction("\n".join(block), tag):
            found[reason] += len(block)
    del found[""]
    return (found.most_common(1)[0][0], found.total() / len(looked_at)) if found else ("", 0.0)
