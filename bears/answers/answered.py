"""What was answered, as a line of the answers file says it."""

from collections.abc import Iterator
from typing import Any

from bears.answers.citations import Cited, cited
from bears.answers.sentence import best_sentence
from bears.answers.settings import why_given_up
from bears.answers.task import AnswerTask
from bears.language.normalisation import normalisation_of
from bears.language.yes_no import LITERAL, says_unanswerable
from bears.llm.kept import PublishedMemory


def answered(task: AnswerTask, known: PublishedMemory) -> Iterator[dict[str, Any]]:
    """A line for each question, in the benchmark's order.

    ``question_id``; ``answer``, in which no marker is left; ``evidence``, the documents that it
    cites; ``shown``, those that it was shown, in order; ``cut``, those shown in part;
    ``left_out``, those for which there was no room; ``cited_not_given``, how many it cites besides;
    and for a question that the model refuses, whose answer is empty, ``given_up``, which says why.

    Raises:
        MemoryMiss: answers are missing; all are counted and the first few listed.
    """
    found = _sentences(task) if task.settings.method == "sentence" else _replayed(task, known)
    for question in task.questions:
        shown, answer = task.shown[question.question_id], found[question.question_id]
        silent = says_unanswerable(answer.text, task.language.unanswerable)
        yield {
            "question_id": question.question_id,
            "answer": LITERAL if silent else answer.text,
            "evidence": [shown.doc_ids[position] for position in answer.positions],
            "shown": shown.doc_ids,
            "cut": shown.cut,
            "left_out": shown.left_out,
            "cited_not_given": answer.unknown,
            **({"given_up": answer.given_up} if answer.given_up else {}),
        }


def _replayed(task: AnswerTask, known: PublishedMemory) -> dict[str, Cited]:
    return {
        request.record_id: Cited("", (), 0, why)
        if (why := why_given_up(reply))
        else cited(reply, len(request.texts))
        for request, reply in task.replies(known)
    }


def _sentences(task: AnswerTask) -> dict[str, Cited]:
    rules = normalisation_of(task.language.name)
    answers = {}
    for question in task.questions:
        best = best_sentence(question.question, task.shown[question.question_id].texts, rules)
        if best:
            sentence, position = best
            # A document may hold markers, which are none of ours.
            answers[question.question_id] = Cited(cited(sentence, 0).text, (position,), 0)
        else:
            answers[question.question_id] = Cited(LITERAL, (), 0)
    return answers
