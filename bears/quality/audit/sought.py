"""An answer as it is looked for in documents, and whether finding it means anything."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

from bears.language.normalisation import unspaced
from bears.language.sentences import sentence_ends
from bears.language.text import parenthesised, without_parentheses
from bears.language.yes_no import yes_or_no

_NAME = 4
"""Letters from which what stands in parentheses is a name."""
_UNIT = 3
"""A number with no more letters than these has a unit, and is a bare number still."""


@dataclass(frozen=True)
class Sought:
    """The forms of an answer, each as tokens with a space around every one.

    Attributes:
        forms: any of which is the answer.
        weak: whether it is a bare number, a year, or a common noun as far as capitals tell.
    """

    forms: tuple[str, ...]
    weak: bool

    def stands_in(self, normal: str) -> bool:
        """Whether a form stands in a normal form with a space around it."""
        return any(form in normal for form in self.forms)

    def around(self, text: str, sentences: int) -> str:
        """The sentences of ``text`` that hold the answer, and so many before and after each.

        The whole text where no single sentence holds it.
        """
        ends = [0, *sentence_ends(text), len(text)]
        pieces = [text[start:end] for start, end in pairwise(ends)]
        holding = [i for i, piece in enumerate(pieces) if self.stands_in(f" {unspaced(piece)} ")]
        near = {
            i + step
            for i in holding
            for step in range(-sentences, sentences + 1)
            if 0 <= i + step < len(pieces)
        }
        return "".join(pieces[i] for i in sorted(near)) if near else text


def sought(
    questions: Collection[str], answers: Collection[str], languages: Collection[str]
) -> Sought | None:
    """How an answer is looked for, in any of its languages.

    None where finding it is no evidence: a yes or a no; nothing; or it stands in the question
    ("A or B").
    """
    if any(yes_or_no(answer, tag) for answer in answers for tag in languages):
        return None
    forms = dict.fromkeys(form for answer in answers for form in _forms(answer))
    asked = [f" {_plain(question)} " for question in questions]
    if not forms or any(form in text for form in forms for text in asked):
        return None
    number = all(any(c.isdigit() for c in form) and _letters(form) <= _UNIT for form in forms)
    letters = "".join(answers)
    noun = letters == letters.lower() != letters.upper()
    return Sought(tuple(forms), number or noun)


def _forms(answer: str) -> list[str]:
    names = [name for name in parenthesised(answer) if _letters(name) >= _NAME]
    plain = (_plain(form) for form in (answer, without_parentheses(answer), *names))
    return [f" {form} " for form in plain if form]


def _plain(text: str) -> str:
    return unspaced(text).removeprefix("the ")


def _letters(text: str) -> int:
    return sum(map(str.isalpha, text))
