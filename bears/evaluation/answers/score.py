"""Answers against the annotators' answers, as the official evaluation of QASPER does it."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from bears.errors import FormatError
from bears.evaluation.answers.evidence_f1 import evidence_f1
from bears.evaluation.answers.exact_match import exact_match
from bears.evaluation.answers.references import references_of
from bears.evaluation.answers.token_f1 import token_f1
from bears.evaluation.answers.unanswerable_detection import unanswerable_detection
from bears.evaluation.answers.yes_no_accuracy import yes_no_accuracy
from bears.language.normalisation import (
    Normalisation,
    normalisation_of,
    without_citations,
)
from bears.language.yes_no import LITERAL
from bears.types import Answer, AnswerType, Question


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a system answered to one question.

    Args:
        answer: the text, in which "Unanswerable", "Yes" and "No" are literal.
        evidence: ids of the documents that it rests on; None where the system names none.
    """

    answer: str
    evidence: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What one answer scores; None where a value is undefined.

    Attributes:
        answer_f1, exact_match, evidence_f1: best over the references; 0 for a missing answer.
        type: the type of the reference with the best token F1, of the first one where several
            are best; None for a missing answer.
        yes_no: whether the word of yes or no is right; None where no reference is one.
        unanswerable: whether it says so; None where no reference does.
        reference: the text of the reference that gives the type; None for a missing answer.
    """

    answer_f1: float | None = None
    exact_match: float | None = None
    evidence_f1: float | None = None
    type: AnswerType | None = None
    yes_no: float | None = None
    unanswerable: float | None = None
    reference: str | None = None


def score_answers(
    questions: Iterable[Question], predictions: Mapping[str, Prediction], language: str
) -> dict[str, AnswerScore]:
    """question_id to what its answer scores, for every question, answered or not.

    A question that has no reference answer is undefined. Where no prediction names evidence,
    evidence F1 is undefined for all.

    Args:
        questions: with their annotators' answers, or with one gold answer.
        predictions: question_id to what a system answered; citation markers are not scored.
        language: BCP 47 tag of the answers.

    Raises:
        FormatError: a prediction is of no question.
    """
    rules = normalisation_of(language)
    with_evidence = any(prediction.evidence is not None for prediction in predictions.values())
    scores = {}
    for question in questions:
        prediction = predictions.get(question.question_id)
        references = references_of(question, language)
        score = _score(references, prediction, rules, language, with_evidence)
        scores[question.question_id] = score
    if unknown := sorted(predictions.keys() - scores.keys()):
        raise FormatError(f"{len(unknown)} predictions are of no question: {unknown[0]!r}, …")
    return scores


def summarise_answers(scores: Mapping[str, AnswerScore], answered: int) -> dict[str, Any]:
    """Means over the questions for which a value is defined, null where there are none.

    Types count the answered questions only, as in the official evaluation, which gives 0 and not
    null to a type without any.

    Returns:
        ``answer_f1``, ``exact_match``, ``evidence_f1``; ``by_type``; ``yes_no_accuracy`` and
        ``unanswerable_detection``; and the counts ``n``, ``answered``, ``n_yes_no``,
        ``n_unanswerable`` and ``n_undefined``.
    """
    rows = list(scores.values())
    by_type: dict[str, dict[str, float | int | None]] = {}
    for kind in get_args(AnswerType):
        own = [row for row in rows if row.type == kind]
        by_type[kind] = {
            "answer_f1": _mean(row.answer_f1 for row in own),
            "exact_match": _mean(row.exact_match for row in own),
            "n": len(own),
        }
    return {
        "answer_f1": _mean(row.answer_f1 for row in rows),
        "exact_match": _mean(row.exact_match for row in rows),
        "evidence_f1": _mean(row.evidence_f1 for row in rows),
        "yes_no_accuracy": _mean(row.yes_no for row in rows),
        "unanswerable_detection": _mean(row.unanswerable for row in rows),
        "by_type": by_type,
        "n": len(rows),
        "answered": answered,
        "n_yes_no": sum(row.yes_no is not None for row in rows),
        "n_unanswerable": sum(row.unanswerable is not None for row in rows),
        "n_undefined": sum(row.answer_f1 is None for row in rows),
    }


def _score(
    references: Sequence[Answer],
    prediction: Prediction | None,
    rules: Normalisation,
    language: str,
    with_evidence: bool,
) -> AnswerScore:
    if not references:
        return AnswerScore()
    yes_no = [reference.text for reference in references if reference.type == "yes-no"]
    asks_nothing = any(reference.type == "unanswerable" for reference in references)
    if prediction is None:
        return AnswerScore(
            answer_f1=0.0,
            exact_match=0.0,
            evidence_f1=0.0 if with_evidence else None,
            yes_no=0.0 if yes_no else None,
            unanswerable=0.0 if asks_nothing else None,
        )
    text = without_citations(prediction.answer)
    f1 = [token_f1(text, literal(reference), rules) for reference in references]
    best = references[f1.index(max(f1))]
    return AnswerScore(
        answer_f1=max(f1),
        exact_match=max(exact_match(text, literal(each), rules) for each in references),
        evidence_f1=max(
            evidence_f1(prediction.evidence or (), _evidence(each)) for each in references
        )
        if with_evidence
        else None,
        type=best.type,
        yes_no=yes_no_accuracy(text, yes_no, language) if yes_no else None,
        unanswerable=unanswerable_detection(text) if asks_nothing else None,
        reference=literal(best),
    )


def literal(reference: Answer) -> str:
    """The text that a reference is compared by."""
    return LITERAL if reference.type == "unanswerable" else reference.text


def _evidence(reference: Answer) -> tuple[str, ...]:
    # Whoever finds no answer has no evidence for it, whatever stands there.
    return () if reference.type == "unanswerable" else reference.evidence_doc_ids


def _mean(values: Iterable[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None
