"""Words of the source were left as they are."""

from __future__ import annotations

import re

from bears.language.profile import Language
from bears.language.text import Text, plain_words, without_parentheses, words


def gate(text: Text, language: Language) -> str | None:
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
