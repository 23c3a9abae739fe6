"""How an answer says that there is none."""

import re
import unicodedata

LITERAL = "Unanswerable"
"""QASPER's word, which stands in files of answers in every language."""


def says_unanswerable(answer: str, form: str) -> bool:
    """Whether ``answer`` is the language's ``form`` or the literal, and nothing else.

    Case, full width, white space and punctuation around it are no matter.
    """
    return _plain(answer) in (_plain(form), _plain(LITERAL))


def _plain(text: str) -> str:
    return re.sub(r"^\W+|\W+$", "", unicodedata.normalize("NFKC", text).casefold())
