"""What is put before a judge, and what the judge says of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from bears.evaluation.answers.references import references_of
from bears.evaluation.answers.score import Prediction, literal
from bears.language.normalisation import without_citations
from bears.types import Question

Verdict = Literal["pass", "fail", "unscored"]
"""``unscored``: nobody knows; never a fail."""
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True)
class Ruling:
    """A verdict, and why in a few words; a judge that compares words gives no reason."""

    verdict: Verdict
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One answer to one question.

    Args:
        question: as it was asked, after the earlier turns of a conversation.
        golds: right answers, any of which will do.
        aliases: what else they may be called; too short for a comparison of words (對, 有).
        answer: of a system, without its citations; empty where it gave none.
    """

    question_id: str
    question: str
    golds: tuple[str, ...]
    answer: str
    aliases: tuple[str, ...] = ()

    def known(self) -> Ruling | None:
        """What needs no judge: without a right answer nobody knows, and no answer is none."""
        if not self.golds:
            return Ruling("unscored", "no right answer is known")
        return None if self.answer else Ruling("fail", "no answer")


class Judge(Protocol):
    """Says of an answer whether it is right, from its words alone."""

    def verdict(self, question: str, golds: Sequence[str], answer: str, language: str) -> Verdict:
        """The verdict on one answer.

        Args:
            question: as it was asked.
            golds: right answers, any of which will do.
            answer: of a system; empty where it gave none.
            language: BCP 47 tag of the answers.
        """


def cases_of(
    questions: Sequence[Question],
    predictions: Mapping[str, Prediction],
    language: str,
    aliases: Mapping[str, Sequence[str]],
) -> list[Case]:
    """A case for every question, answered or not.

    Args:
        questions: with the answers of all annotators that are known.
        predictions: question_id to what a system answered.
        language: BCP 47 tag of the answers.
        aliases: question_id to what else its gold answer may be called.
    """
    found = []
    for question in questions:
        golds = [literal(each) for each in references_of(question, language)]
        prediction = predictions.get(question.question_id)
        turns = [f"{turn.role}: {turn.content}" for turn in question.turns]
        found.append(
            Case(
                question.question_id,
                "\n".join([*turns, question.question]),
                tuple(dict.fromkeys(gold for gold in golds if gold.strip())),
                without_citations(prediction.answer).strip() if prediction else "",
                tuple(aliases.get(question.question_id, ())),
            )
        )
    return found
