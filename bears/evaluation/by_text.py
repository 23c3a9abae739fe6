"""Find questions by their texts, where a system's file has no ids."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from unicodedata import normalize

from bears.errors import FormatError
from bears.types import Question


def id_by_text(questions: Iterable[Question]) -> Callable[[str, str], str]:
    """Return a function from a text to the id of the question that it is; else to the text.

    White space, case and the Unicode form of a character do not matter. The function also takes the
    beginning of its message; it raises FormatError if several questions have the text.
    """
    ids = defaultdict[str, list[str]](list)
    for question in questions:
        ids[_form(question.question)].append(question.question_id)

    def find(text: str, where: str) -> str:
        found = ids.get(_form(text), [text])
        if len(found) > 1:
            both = f"the questions {found[0]} and {found[1]}; give question_id"
            raise FormatError(f"{where}{text!r:.80} is the text of {both}")
        return found[0]

    return find


def _form(text: str) -> str:
    return " ".join(normalize("NFC", text).split()).casefold()
