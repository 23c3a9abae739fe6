"""Putting a system's answers before the judges: everything that is known of a question, joined."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from bears.answers.judging.bench import Rulings, majority
from bears.answers.judging.causes import Context, Evidence, cause_of, places
from bears.answers.judging.injection import speaks_to_judge
from bears.answers.judging.judged import JudgedQuestion
from bears.answers.judging.lexical import gold_stands
from bears.answers.judging.ruling import Case, Ruling, Verdict
from bears.evaluation.answers.score import AnswerScore, Prediction, score_answers
from bears.evaluation.answers.unanswerable_detection import unanswerable_detection
from bears.types import Question


@dataclass
class Hearing:
    """The answers of one system, and what is known of how they came about.

    Args:
        questions: of the benchmark, with the answers of all annotators that are known.
        cases: of these questions, in their order.
        predictions: question_id to what the system answered.
        language: BCP 47 tag of the answers.
        contexts: question_id to what the generator was shown.
        retrieved: question_id to the documents of the run it had; None where nobody knows.
        closed_book: whether it was to answer without documents.
        oracle: question_id to the verdict on the same generator's answer to the gold alone.
    """

    questions: Sequence[Question]
    cases: Sequence[Case]
    predictions: Mapping[str, Prediction]
    language: str
    contexts: Mapping[str, Context] = field(default_factory=dict)
    retrieved: Mapping[str, Collection[str]] | None = None
    closed_book: bool = False
    oracle: Mapping[str, Verdict] = field(default_factory=dict)

    def judged(self, rulings: Rulings) -> list[JudgedQuestion]:
        """Every question with its verdict, which most of the judges share, its scores and cause.

        Args:
            rulings: of each judge on each case; none without a judge.
        """
        scores = score_answers(self.questions, self.predictions, self.language)
        columns = list(zip(*rulings.values(), strict=True)) or [()] * len(self.cases)
        return [
            self._judged(question, case, scores[question.question_id], column)
            for question, case, column in zip(self.questions, self.cases, columns, strict=True)
        ]

    def _judged(
        self, question: Question, case: Case, score: AnswerScore, rulings: Sequence[Ruling]
    ) -> JudgedQuestion:
        ruling = majority(rulings) if rulings else None
        context = self.contexts.get(question.question_id, Context())
        evidence = self._evidence(case, score, context)
        flags = {
            "injection": speaks_to_judge(case.answer),
            "cited_not_given": context.cited_not_given > 0,
            "abstained": score.unanswerable is None and bool(unanswerable_detection(case.answer)),
            "judges_differ": len({each.verdict for each in rulings}) > 1,
        }
        return JudgedQuestion(
            question=question,
            case=case,
            ruling=ruling,
            score=score,
            cause=cause_of(question, ruling.verdict if ruling else "unscored", evidence),
            gold_places=places(question, evidence),
            cited_not_given=context.cited_not_given,
            flags=tuple(name for name, raised in flags.items() if raised),
        )

    def _evidence(self, case: Case, score: AnswerScore, context: Context) -> Evidence:
        retrieved = None if self.retrieved is None else self.retrieved.get(case.question_id, ())
        return Evidence(
            answered=bool(case.answer),
            context=context,
            retrieved=retrieved,
            closed_book=self.closed_book,
            words=_words(case, score, self.language),
            oracle=self.oracle.get(case.question_id, "unscored"),
        )


def _words(case: Case, score: AnswerScore, language: str) -> Verdict:
    """Pass where a gold answer stands in the answer, fail where they have no token in common.

    Of yes and no the first one counts.
    """
    if score.yes_no is not None:
        return "pass" if score.yes_no else "unscored"
    if gold_stands(case.golds, case.answer, language):
        return "pass"
    return "fail" if score.answer_f1 == 0 else "unscored"
