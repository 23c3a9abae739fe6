"""A question became a statement."""

from __future__ import annotations

from bears.language import english
from bears.language.profile import Language
from bears.language.questions import is_question
from bears.language.text import Text


def gate(text: Text, language: Language) -> str | None:
    """The source asks, the translation does not: it has neither question mark nor question word."""
    if text.field != "question" or not _asks(text.source, text.source_language):
        return None
    if is_question(text.translation, language):
        return None
    return f"a question became a statement: {text.translation!r:.60}"


def _asks(source: str, source_language: str) -> bool:
    if source_language.split("-", 1)[0].lower() == "en":
        return english.asks(source)
    return source.rstrip().endswith(("?", "？", "か。"))
