"""Punctuation came back."""

from __future__ import annotations

from bears.language.profile import Language
from bears.language.text import Text, has_content


def gate(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation has neither letter nor digit, though the source has."""
    if has_content(text.source) and text.translation.strip() and not has_content(text.translation):
        return f"nothing but punctuation: {text.translation!r:.60}"
    return None
