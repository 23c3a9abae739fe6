"""Match a system's answers with the questions and documents of a benchmark."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from bears.errors import FormatError
from bears.evaluation.answers.evidence import SECTION, finder
from bears.evaluation.answers.forms import GivenAnswer
from bears.evaluation.answers.score import Prediction
from bears.evaluation.by_text import id_by_text
from bears.types import Document, Question


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a file.

    Args:
        predictions: question_id to the answer, for questions of the benchmark.
        given: question_id to everything in the file, also for unknown questions.
    """

    predictions: Mapping[str, Prediction]
    given: Mapping[str, GivenAnswer]


def answers_of(
    given: Iterable[GivenAnswer],
    questions: Sequence[Question],
    documents: Collection[Document],
    ignore_unknown: bool = False,
) -> Answers:
    """Match answers with the questions of a benchmark.

    Evidence that matches no document (see `bears.evaluation.answers.evidence`) is kept and counts
    as wrong. This includes figures and tables if captions are not documents: the official script
    removes them from the gold only. Names of sections are removed, as they are from the gold.

    Args:
        given: the answers of a file.
        questions, documents: of the benchmark.
        ignore_unknown: skip answers to unknown questions instead of failing.

    Raises:
        FormatError: an answer is to an unknown question, to one that is already answered, or to a
            text that several questions have.
    """
    known = {question.question_id: question for question in questions}
    find_question = id_by_text(questions)
    find = finder(documents)
    predictions: dict[str, Prediction] = {}
    taken: dict[str, GivenAnswer] = {}
    for answer in given:
        name = answer.question_id
        key = find_question(name, f"{answer.where}: ") if answer.by_text else name
        if key in taken:
            raise FormatError(f"{answer.where}: {name!r:.80} is answered twice; remove one answer")
        taken[key] = answer
        question = known.get(key)
        if question is not None and answer.answer is not None:
            texts = [text for text in answer.evidence or () if SECTION not in text]
            evidence = tuple(find(question.group, text) or text for text in texts)
            given_evidence = None if answer.evidence is None else evidence
            predictions[key] = Prediction(answer.answer, given_evidence)
        elif question is None and not ignore_unknown:
            raise FormatError(
                f"{answer.where}: there is no question {key!r:.80}; --ignore-unknown skips such "
                "questions"
            )
    return Answers(predictions, taken)
