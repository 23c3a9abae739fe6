"""The source came back."""

from __future__ import annotations

from bears.language.profile import Language, family
from bears.language.text import Text, plain_words, unspaced

# Names hold these, and names may stay: the River Clyde, House of Cards, San Ferdinando di Puglia.
_IN_NAMES = {
    *("the", "of", "and", "for", "in", "on", "at", "to", "an"),
    *("de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "les", "los"),
    *("las", "el", "von", "van", "der", "den", "ten", "ter", "und", "zu", "af", "av", "og"),
    *("bin", "ibn", "al"),
}


def gate(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation is the source, but for space and case, though there are words to translate.

    Words to translate begin with a small letter and are no particle of names; in a script
    without capitals every letter is one, but in an answer between two languages that share such
    a script (東京).
    """
    if _bare(text.source) != _bare(text.translation):
        return None
    ordinary = [word for word in plain_words(text.source) if word not in _IN_NAMES]
    shared = family(text.source_language) == family(text.target) and text.field == "gold_answer"
    if _cased(text.source, ordinary) or (unspaced(text.source) and not shared):
        return "the translation is the source text"
    return None


def _cased(source: str, ordinary: list[str]) -> bool:
    return any(word.upper() != word for word in ordinary) and source.upper() != source


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()
