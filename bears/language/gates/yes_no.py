"""A yes or no is not said with the lexicon's word."""

from bears.language.profile import Language
from bears.language.text import Text
from bears.language.yes_no import means, yes_or_no


def gate(text: Text, language: Language) -> str | None:
    """The translation of a yes/no answer is another word than the lexicon's."""
    said = None
    if text.field == "gold_answer":
        said = yes_or_no(text.source, text.source_language)
    expected = language.yes if said == "yes" else language.no
    if said is None or text.translation == expected:
        return None
    found = means(text.translation, language.yes_words, language.no_words)
    what = "is not the lexicon's word" if found in (None, said) else "means the opposite"
    return f"{text.translation!r:.40} {what}, expected {expected!r}"
