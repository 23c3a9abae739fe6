"""The text is in another variant of the language: simplified characters, mainland words."""

from __future__ import annotations

import re
from functools import lru_cache

from bears.language.profile import Language, Variant
from bears.language.text import Text, without_parentheses


def gate(text: Text, language: Language) -> str | None:
    """More foreign characters or words than the thresholds let pass; see `Variant`.

    What stands in parentheses is an original, and may be in any variant.
    """
    body = without_parentheses(text.translation)
    characters = foreign_characters(body, language.variant)
    if len(characters) > language.thresholds.variant_characters:
        return f"not {language.title}: {''.join(dict.fromkeys(characters))!r:.40}"
    terms = foreign_terms(body, language.variant)
    if len(terms) > len(body) // language.thresholds.variant_term_length:
        return f"not {language.title}: {', '.join(terms[:3])}"
    return None


def foreign_terms(text: str, variant: Variant) -> list[str]:
    """The words of ``text`` that belong to another variant, with the own ones where known."""
    terms = [f"{term} (here {own})" for term, own in variant.terms.items() if term in text]
    found = (re.search(pattern, text) for pattern in variant.strangers)
    return terms + [match.group() for match in found if match]


def foreign_characters(text: str, variant: Variant) -> list[str]:
    """The characters of ``text`` that belong to another variant, in order."""
    return [
        character
        for character in text
        if character in variant.forbidden
        or (
            "\u4e00" <= character <= "\u9fff"
            and character not in variant.allowed
            and _foreign(character, variant.own_charset, variant.foreign_charsets)
        )
    ]


@lru_cache(maxsize=65536)
def _foreign(character: str, own: str, foreign: tuple[str, ...]) -> bool:
    return bool(own) and not _in(character, own) and any(_in(character, name) for name in foreign)


def _in(character: str, charset: str) -> bool:
    try:
        character.encode(charset)
    except UnicodeEncodeError:
        return False
    return True
