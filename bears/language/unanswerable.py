"""How an answer says that there is none."""

from bears.language.yes_no import means

LITERAL = "Unanswerable"
"""QASPER's word, which stands in files of answers in every language."""


def says_unanswerable(answer: str, form: str) -> bool:
    """Whether ``answer`` is the language's ``form`` or the literal, and nothing else.

    Case, full width, white space and punctuation around it are no matter.
    """
    return means(answer, (form, LITERAL), ()) is not None
