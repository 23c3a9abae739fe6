"""Find source text that was not translated, in whole or in part."""

import re

from bears.files.intake.yaml_text import table_of
from bears.language import english
from bears.language.profile import Language, family
from bears.language.scripts import script_share
from bears.language.text import (
    QUOTES,
    Text,
    plain_words,
    unspaced,
    without_marked,
    without_parentheses,
    words,
)

# Names contain these, and names may stay: the River Clyde, San Ferdinando di Puglia.
_IN_NAMES = frozenset(table_of(__file__))
_INTRODUCES = ("Latin", "Greek", "French", "German", "called", "named", "known as", "term", "word")
_TERM = rf"(?:{'|'.join(_INTRODUCES)}) "
"""After these the source has a foreign term and no word of its own: the Greek anthropos."""
_LEAST = 3
"""Shorter words are symbols, or particles of names."""
_RUN = 6
"""So many of the source's words in a row are an untranslated sentence."""
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ]+")
_INNER_MARK = re.compile(r"\w[.@/:]\w")
_LATIN_RUN = re.compile(rf"{_LATIN_WORD.pattern}(?:[ ,.&/:'’\-]+{_LATIN_WORD.pattern})*")


def echo(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """Find a translation that is the source, although there are words to translate.

    Words to translate begin with a small letter and are not particles of names. In a script without
    capitals every letter counts, except in an answer between two languages that share such a script
    (東京). Space and case are ignored.
    """
    if _bare(text.source) != _bare(text.translation):
        return None
    ordinary = [word for word in plain_words(text.source) if word not in _IN_NAMES]
    shared = family(text.source_language) == family(text.target) and text.field == "gold_answer"
    cased = any(word.upper() != word for word in ordinary) and text.source.upper() != text.source
    if cased or (unspaced(text.source) and not shared):
        return "the translation is the source text"
    return None


def _bare(text: str) -> str:
    return " ".join(text.split()).casefold()


def untranslated(text: Text, language: Language) -> str | None:
    """Find words of the source outside of parentheses, quotations and titles.

    Distinct words count that begin with a small letter in the source (so no names): too great a
    share of them; or a run of six words in the order of the source, however long the rest is. If
    the target has no Latin letters, one such word is too much.
    """
    limits = language.thresholds
    pairs = (*language.titles, *language.quotes, *QUOTES)
    kept = without_marked(without_parentheses(text.translation), pairs)
    if "LATIN" not in language.scripts and (slips := _slips(kept, text, language)):
        return f"left in the source language: {', '.join(slips)!r:.60}"
    ordinary = set(plain_words(text.source))
    left = ordinary & set(words(kept))
    if not left:
        return None
    run = _longest_run(kept, text.source, ordinary)
    if len(run) >= _RUN:
        return f"left in the source language: {' '.join(run)!r:.60}"
    share = len(left) / len(ordinary) if ordinary else 0.0
    if len(left) >= limits.source_words and share > limits.source_share:
        few = ", ".join(sorted(left)[:5])
        return f"{share:.0%} of the source's words are left: {few}"
    return None


def _slips(kept: str, text: Text, language: Language) -> list[str]:
    """Return what is left of the source in a language without Latin letters of its own.

    These are words without a name or an address among them (names contain ordinary words: One to
    One), in a document with a space next to them (terms that stay are glued to the text); the end
    of a word (北ampton); dates.
    """
    quoteless = without_marked(text.source, QUOTES)
    found = []
    for run in _LATIN_RUN.finditer(kept):
        before, after = kept[: run.start()][-1:], kept[run.end() :][:1]
        alone = text.field == "question" or before.isspace() or after.isspace()
        if alone and run.group().islower() and not _INNER_MARK.search(run.group()):
            inside = _LATIN_WORD.findall(run.group())
            found += [word for word in inside if _ordinary(word, quoteless, language)]
        elif before.isalpha() and script_share(before, language.scripts):
            found += [run.group()] if _ends_word(run.group(), text.source) else []
    return found + [english.MONTHS[month - 1].title() for month in sorted(english.months(kept))]


def _ordinary(word: str, source: str, language: Language) -> bool:
    """Return whether ``source`` has ``word`` in small letters within a sentence, but not as a loan.

    Names without a capital are excluded if they can be recognized: smtp has no vowel, fun. has a
    point.
    """
    if len(word) < _LEAST or word in language.loans or not re.search("[aeiouy]", word):
        return False
    if re.search(rf"\b{word}\. [a-z]", source):
        return False
    alone = rf"{re.escape(word)}(?![\w\-])"
    return bool(re.search(rf"[\w,;:)] {alone}", source)) and not re.search(_TERM + alone, source)


def _ends_word(run: str, source: str) -> bool:
    ends = rf"(?<=\w){re.escape(run)}(?!\w)"
    alone = rf"(?<!\w){re.escape(run)}"
    return len(run) >= _LEAST and bool(re.search(ends, source)) and not re.search(alone, source)


def _longest_run(kept: str, source: str, ordinary: set[str]) -> list[str]:
    """Return the longest run of the source's words with more ordinary words than names."""
    haystack = f" {' '.join(words(source))} "
    longest: list[str] = []
    run: list[str] = []
    # Letters of another script and sentence marks end a run.
    for piece in re.split(r"[^\w\s,;:'’\-]+", kept):
        run = []
        for word in words(piece):
            run = [*run, word] if f" {' '.join([*run, word])} " in haystack else [word]
            plain = sum(item in ordinary for item in run)
            if plain * 2 > len(run) > len(longest):
                longest = list(run)
    return longest
