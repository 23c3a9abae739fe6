"""A word that a question turns on was lost: a number, a relation, an order, a nationality."""

import re
from collections.abc import Mapping

from bears.language.profile import Language
from bears.language.tags import primary
from bears.language.text import QUOTES, Text, without_marked


def lost_word(text: Text, language: Language) -> str | None:
    """A number, a relation or an order that the question turns on, whose renderings are few."""
    return _lost(text, language.lexicon)


def lost_detail(text: Text, language: Language) -> str | None:
    """A profession, a nationality, a birth or a death: idioms may say it without the word."""
    return _lost(text, language.details)


def _lost(text: Text, lexicon: Mapping[str, str]) -> str | None:
    """An English question has a word of the lexicon, and the translation none of its renderings.

    Quotations aside, and by case, since titles hold such words too (Two Sisters).
    """
    if text.field != "question" or primary(text.source_language) != "en":
        return None
    source = without_marked(text.source, QUOTES)
    lost = [
        found.group()
        for word, rendering in lexicon.items()
        if (found := re.search(rf"(?<![\w\-])(?:{word})(?![\w\-])", source))
        and not re.search(rendering, text.translation)
    ]
    return f"lost: {', '.join(lost)}" if lost else None
