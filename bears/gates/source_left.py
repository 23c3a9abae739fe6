"""The source came back, whole or in part."""

import re

from bears.language.profile import Language, family
from bears.language.text import Text, plain_words, unspaced, without_parentheses, words

# Names hold these, and names may stay: the River Clyde, House of Cards, San Ferdinando di Puglia.
_IN_NAMES = {
    *("the", "of", "and", "for", "in", "on", "at", "to", "an"),
    *("de", "del", "della", "di", "da", "do", "dos", "das", "du", "des", "la", "le", "les", "los"),
    *("las", "el", "von", "van", "der", "den", "ten", "ter", "und", "zu", "af", "av", "og"),
    *("bin", "ibn", "al"),
}


def echo(text: Text, language: Language) -> str | None:  # noqa: ARG001
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


def untranslated(text: Text, language: Language) -> str | None:
    """Too many of the source's words stand in the translation.

    Counted are the words that the source begins with a small letter (so no names), once each,
    that stand in the translation outside of parentheses and title marks. A run of
    ``source_run`` words that the source has in the same order is a sentence left over, however
    long the rest.
    """
    limits = language.thresholds
    kept = _without_titles(without_parentheses(text.translation), language)
    ordinary = set(plain_words(text.source))
    left = ordinary & set(words(kept))
    if not left:
        return None
    run = _longest_run(kept, text.source, ordinary)
    if len(run) >= limits.source_run:
        return f"left in the source language: {' '.join(run)!r:.60}"
    share = len(left) / len(ordinary) if ordinary else 0.0
    if len(left) >= limits.source_words and share > limits.source_share:
        few = ", ".join(sorted(left)[:5])
        return f"{share:.0%} of the source's words are left: {few}"
    return None


def _without_titles(text: str, language: Language) -> str:
    for pair in (*language.titles, *language.quotes):
        opening, closing = pair[0], pair[1]
        pattern = f"{re.escape(opening)}[^{re.escape(opening + closing)}]*{re.escape(closing)}"
        text = re.sub(pattern, " ", text)
    return text


def _longest_run(kept: str, source: str, ordinary: set[str]) -> list[str]:
    """The longest run of the source's words with more ordinary words than names in it."""
    haystack = f" {' '.join(words(source))} "
    longest: list[str] = []
    run: list[str] = []
    # Words in a row are parted by no letter of another script and by no sentence mark.
    for piece in re.split(r"[^\w\s,;:'’\-]+", kept):
        run = []
        for word in words(piece):
            run = [*run, word] if f" {' '.join([*run, word])} " in haystack else [word]
            plain = sum(item in ordinary for item in run)
            if plain * 2 > len(run) > len(longest):
                longest = list(run)
    return longest
