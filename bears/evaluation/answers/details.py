"""List every question with its answer, its scores, and what went wrong."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from bears.evaluation.answers.score import VALUES, AnswerScore, literal, references_of
from bears.files.visible import one_line
from bears.trace import Trace
from bears.types import Question

HEADER = ("question_id", "question", "type", "answer", "best_reference", *VALUES, "error")
Fault = tuple[str, str]
"""The kind of a fault, and its message."""


def faults(
    questions: Sequence[Question], answers: Mapping[str, Trace], doc_ids: Collection[str]
) -> dict[str, list[Fault]]:
    """Return question_id to what is wrong with its answer, also for unknown questions.

    The kinds are ``missing``, ``no_answer``, ``empty``, ``evidence`` (not a document),
    ``unknown_question``, and ``system`` for an error that the system itself reports.
    """
    known = frozenset(doc_ids)
    found = {q.question_id: list(_faults(answers.get(q.question_id), known)) for q in questions}
    for key in answers.keys() - found.keys():
        found[key] = [("unknown_question", "not a question of this benchmark")]
    return {key: own for key, own in found.items() if own}


def _faults(given: Trace | None, doc_ids: frozenset[str]) -> Iterator[Fault]:
    if given is None:
        yield "missing", "missing"
        return
    if given.answer is None:
        yield "no_answer", "no answer"
    elif not given.answer.strip():
        yield "empty", "an empty answer"
    if given.error:
        yield "system", one_line(given.error)
    evidence = given.evidence or ()
    if wrong := sum(chunk.doc_id not in doc_ids for chunk in evidence):
        yield "evidence", f"{wrong} of {len(evidence)} named as evidence are not documents"


def rows(
    questions: Sequence[Question],
    answers: Mapping[str, Trace],
    scores: Mapping[str, AnswerScore],
    found: Mapping[str, Sequence[Fault]],
    language: str,
) -> Iterator[Sequence[Any]]:
    """Yield a row of `HEADER` for each question, and then for each unknown question.

    Args:
        questions, answers, scores: of one benchmark and one system.
        found: what `faults` returns.
        language: BCP 47 tag of the answers.
    """
    messages = {key: "; ".join(message for _, message in own) for key, own in found.items()}
    for question in questions:
        key = question.question_id
        score, given = scores[key], answers.get(key)
        references = references_of(question, language)
        best = score.reference or (literal(references[0]) if references else "")
        values = [getattr(score, name) for name in VALUES]
        answer = given.answer if given else None
        yield key, question.question, score.type, answer, best, *values, messages.get(key, "")
    for key, given in answers.items():
        if key not in scores:
            yield key, "", "", given.answer, "", *[None] * len(VALUES), messages[key]
