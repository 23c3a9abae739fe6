"""Nothing came back, or nothing but punctuation."""

from bears.language.profile import Language
from bears.language.text import Text, has_content


def empty(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation is white space though the source is not."""
    if text.source.strip() and not text.translation.strip():
        return "the translation is empty"
    return None


def punctuation_only(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation has neither letter nor digit, though the source has."""
    if has_content(text.source) and text.translation.strip() and not has_content(text.translation):
        return f"nothing but punctuation: {text.translation!r:.60}"
    return None
