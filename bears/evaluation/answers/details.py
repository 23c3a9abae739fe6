"""What is to be said of every question: its answer, what it scores, and what went wrong."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bears.evaluation.answers.predictions import Answers
from bears.evaluation.answers.references import references_of
from bears.evaluation.answers.score import AnswerScore, literal
from bears.files.shown import one_line
from bears.types import Question

SCORES = ("answer_f1", "exact_match", "evidence_f1", "yes_no", "unanswerable")
HEADER = ("question_id", "question", "type", "answer", "best_reference", *SCORES, "error")
Fault = tuple[str, str]
"""A kind of what can go wrong, in a word, and what is said of it."""


def faults(
    questions: Sequence[Question], answers: Answers, doc_ids: Collection[str]
) -> dict[str, list[Fault]]:
    """question_id to what went wrong with its answer; also of questions that nobody asked.

    The kinds are ``missing``, ``no_answer``, ``empty``, ``evidence`` (in no document) and
    ``unknown_question``; and ``system`` for what the system itself says.
    """
    known = frozenset(doc_ids)
    asked = [question.question_id for question in questions]
    found = {key: list(_faults(key, answers, known)) for key in asked}
    unknown = ("unknown_question", "no question of this benchmark")
    found |= {key: [unknown] for key in answers.given if key not in found}
    return {key: told for key, told in found.items() if told}


def _faults(question_id: str, answers: Answers, doc_ids: frozenset[str]) -> Iterator[Fault]:
    given, prediction = answers.given.get(question_id), answers.predictions.get(question_id)
    if given is None:
        yield "missing", "missing"
    elif prediction is None:
        yield "no_answer", "no answer"
    elif not prediction.answer.strip():
        yield "empty", "an empty answer"
    if given is not None and given.error:
        yield "system", one_line(given.error)
    named = (prediction.evidence if prediction else None) or ()
    if wrong := sum(evidence not in doc_ids for evidence in named):
        yield "evidence", f"{wrong} of {len(named)} named as evidence are no document"


def rows(
    questions: Sequence[Question],
    answers: Answers,
    scores: Mapping[str, AnswerScore],
    found: Mapping[str, Sequence[Fault]],
    language: str,
) -> Iterator[Sequence[Any]]:
    """A row of `HEADER` for each question, and then for each that is none of the benchmark.

    Args:
        questions, answers, scores: of one benchmark and one system.
        found: what `faults` says.
        language: BCP 47 tag of the answers.
    """
    told = {key: "; ".join(message for _, message in each) for key, each in found.items()}
    for question in questions:
        key = question.question_id
        score, given = scores[key], answers.given.get(key)
        references = references_of(question, language)
        best = score.reference or (literal(references[0]) if references else "")
        values = [getattr(score, name) for name in SCORES]
        answer = given.answer if given else None
        yield key, question.question, score.type, answer, best, *values, told.get(key, "")
    asked = {question.question_id for question in questions}
    for key, given in answers.given.items():
        if key not in asked:
            yield key, "", "", given.answer, "", *[None] * len(SCORES), told[key]
