"""A yes or no is not said with the lexicon's word."""

from __future__ import annotations

from bears.language.profile import Language
from bears.language.text import Text, yes_or_no


def gate(text: Text, language: Language) -> str | None:
    """The translation of a yes/no answer is another word than the lexicon's."""
    said = yes_or_no(text) if text.field == "gold_answer" else None
    expected = language.yes if said == "yes" else language.no
    if said is None or text.translation == expected:
        return None
    opposite = language.no_words if said == "yes" else language.yes_words
    found = text.translation.strip().strip(".。!！").casefold()
    turned = found in {word.casefold() for word in opposite}
    what = "means the opposite" if turned else "is not the lexicon's word"
    return f"{text.translation!r:.40} {what}, expected {expected!r}"
