"""Whether a text asks."""

from __future__ import annotations

import re

from bears.language.profile import Language


def is_question(text: str, language: Language) -> bool:
    """Whether ``text`` has a question mark or a question word of the language."""
    return any(mark in text for mark in language.mood.marks) or any(
        re.search(pattern, text, re.IGNORECASE) for pattern in language.mood.words
    )
