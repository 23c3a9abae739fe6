"""What a system answered, held against the questions and documents of a benchmark."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bears.errors import FormatError
from bears.evaluation.answers.evidence import SECTION, finder
from bears.evaluation.answers.forms import GivenAnswer, read_answers
from bears.evaluation.answers.score import Prediction
from bears.types import Document, Question


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a file.

    Args:
        predictions: question_id to what was answered, of questions of the benchmark.
        given: question_id to all that the file says, of other questions as well.
    """

    predictions: Mapping[str, Prediction]
    given: Mapping[str, GivenAnswer]


def read_predictions(
    path: Path, questions: Sequence[Question], documents: Collection[Document]
) -> Mapping[str, Prediction]:
    """The predictions of `answers_of`, of a file of any of `bears.evaluation.answers.forms`."""
    return answers_of(read_answers(path), questions, documents).predictions


def answers_of(
    given: Iterable[GivenAnswer],
    questions: Sequence[Question],
    documents: Collection[Document],
    ignore_unknown: bool = False,
) -> Answers:
    """What was answered to the questions of a benchmark.

    Evidence that no document has (see `bears.evaluation.answers.evidence`) is kept and is wrong.
    This includes figures and tables where captions are no documents: the official script removes
    them from the gold alone. Names of sections are left out, as the gold has none.

    Args:
        given: as they were read.
        questions, documents: of the benchmark.
        ignore_unknown: whether answers to questions that it lacks are left out, or refused.

    Raises:
        FormatError: naming the answer that is of no question, or of one that is answered already.
    """
    known = {question.question_id: question for question in questions}
    find = finder(documents)
    predictions: dict[str, Prediction] = {}
    taken: dict[str, GivenAnswer] = {}
    for each in given:
        if each.question_id in taken:
            raise FormatError(f"{each.where}: {each.question_id!r:.80} is answered already")
        taken[each.question_id] = each
        question = known.get(each.question_id)
        if question is not None and each.answer is not None:
            texts = [text for text in each.evidence or () if SECTION not in text]
            named = tuple(find(question.group, text) or text for text in texts)
            evidence = None if each.evidence is None else named
            predictions[each.question_id] = Prediction(each.answer, evidence)
        elif question is None and not ignore_unknown:
            raise FormatError(
                f"{each.where}: there is no question {each.question_id!r:.80}; --ignore-unknown "
                "leaves such questions out"
            )
    return Answers(predictions, taken)
