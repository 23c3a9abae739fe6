"""Turn replies into the lines of the answers file."""

from collections.abc import Iterator
from typing import Any

from bears.answers.citations import Cited, cited
from bears.answers.sentence import best_sentence
from bears.answers.settings import SentenceGenerator, why_given_up
from bears.answers.task import AnswerTask
from bears.language.normalization import normalization_of
from bears.language.yes_no import LITERAL, says_unanswerable
from bears.llm.kept import KeptReplies
from bears.types import in_file


def answered(task: AnswerTask, known: KeptReplies) -> Iterator[dict[str, Any]]:
    """Yield a line for each question, in the benchmark's order.

    It has ``question_id``; ``answer``, without markers; ``evidence``, the cited chunks;
    ``shown``, the chunks that were shown, in order; ``cut``, those shown in part; ``left_out``,
    those without room; ``cited_not_given``, the number of other citations; and ``given_up``, the
    reason, if the model refuses a question. Such a question has an empty answer.

    Raises:
        RepliesMissing: answers are missing; the message counts them and lists the first few.
    """
    answers = (
        _sentences(task) if isinstance(task.settings, SentenceGenerator) else _replayed(task, known)
    )
    for question in task.questions:
        shown, answer = task.shown[question.question_id], answers[question.question_id]
        silent = says_unanswerable(answer.text, task.language.unanswerable)
        yield {
            "question_id": question.question_id,
            "answer": LITERAL if silent else answer.text,
            "evidence": in_file(shown.chunks[position] for position in answer.positions),
            "shown": in_file(shown.chunks),
            "cut": in_file(shown.cut),
            "left_out": in_file(shown.left_out),
            "cited_not_given": answer.unknown,
            **({"given_up": answer.given_up} if answer.given_up else {}),
        }


def _replayed(task: AnswerTask, known: KeptReplies) -> dict[str, Cited]:
    return {
        request.record_id: Cited("", (), 0, why)
        if (why := why_given_up(reply))
        else cited(reply, len(request.texts))
        for request, reply in task.replies(known)
    }


def _sentences(task: AnswerTask) -> dict[str, Cited]:
    rules = normalization_of(task.language.name)
    answers = {}
    for question in task.questions:
        texts = task.shown[question.question_id].texts
        sentence, *positions = best_sentence(question.question, texts, rules) or (LITERAL,)
        # A document may contain markers that are not citations of ours.
        answers[question.question_id] = Cited(cited(sentence, 0).text, tuple(positions), 0)
    return answers
