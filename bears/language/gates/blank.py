"""Nothing came back, or nothing but punctuation."""

from bears.files.intake.texts import blank
from bears.language.profile import Language
from bears.language.text import Text, has_content


def empty(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """A person sees nothing of the translation, though of the source."""
    if not blank(text.source) and blank(text.translation):
        return "the translation is empty"
    return None


def punctuation_only(text: Text, language: Language) -> str | None:  # noqa: ARG001
    """The translation has neither letter nor digit, though the source has."""
    if blank(text.translation):
        return None
    if has_content(text.source) and not has_content(text.translation):
        return f"nothing but punctuation: {text.translation!r:.60}"
    return None
