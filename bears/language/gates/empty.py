"""Nothing came back."""

from __future__ import annotations

from bears.language.profile import Language
from bears.language.text import Text


def gate(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation is white space though the source is not."""
    if text.source.strip() and not text.translation.strip():
        return "the translation is empty"
    return None
