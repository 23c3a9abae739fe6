"""The text is much longer or much shorter than a translation is."""

from bears.language.profile import Language, family
from bears.language.text import Text, without_parentheses

_SLACK = 20
"""Characters that the length may be off before its ratio is looked at."""


def gate(text: Text, language: Language) -> str | None:
    """The length is out of bounds by more than the slack; bounds go by the source's family.

    Lengths are in characters that are no white space. What the translation adds in parentheses
    (originals of names) does not make it too long, and does not save it from being too short.
    """
    least, greatest = language.length[family(text.source_language)]
    source = _length(text.source)
    body = _length(without_parentheses(text.translation))
    whole = _length(text.translation)
    if whole + _SLACK < least * source:
        return f"{whole} characters for {source}, expected at least {least * source:.0f}"
    if body - _SLACK > greatest * source:
        return f"{body} characters for {source}, expected at most {greatest * source:.0f}"
    return None


def _length(text: str) -> int:
    return sum(map(len, text.split()))
