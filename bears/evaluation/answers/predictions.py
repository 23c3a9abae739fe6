"""Reading what a system answered."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.evaluation.answers.score import Prediction
from bears.formats.records import problems_of
from bears.intake.json_text import lines
from bears.types import Document, Question


class _Own(TypedDict):
    question_id: str
    answer: str
    evidence: NotRequired[list[str] | None]


class _Official(TypedDict):
    question_id: str
    predicted_answer: str
    predicted_evidence: list[str]


FLOAT = "FLOAT SELECTED"
SECTION = (" ::: ",)
"""What stands in the name of a section, which annotators gave as evidence here and there."""
DocIds = Mapping[tuple[str, str], str]
"""(group of a document, its text without superfluous white space) to its id."""


def read_predictions(
    path: Path, questions: Sequence[Question], documents: Collection[Document]
) -> dict[str, Prediction]:
    """Read JSON Lines of ``{question_id, answer, evidence: [doc_id]}``; evidence may be absent.

    QASPER's official ``{question_id, predicted_answer, predicted_evidence: [paragraph]}`` is read
    too: a paragraph stands for the document of the question's paper that has its text. One that
    no document has stays as it is, and is wrong. ``FLOAT SELECTED: …`` stands for the document that
    is the caption of that figure or table; where captions are no documents it is left out, and so
    are names of sections (``Method ::: Data``), as they are of the gold. Further fields are
    ignored.

    Raises:
        FormatError: naming the line that is not JSON, lacks a field or has one of another type,
            is of no question, or of one that an earlier line answers.
    """
    own, official = TypeAdapter(_Own), TypeAdapter(_Official)
    group_of = {question.question_id: question.group for question in questions}
    doc_ids = {(document.group, plain(document.content)): document.doc_id for document in documents}
    floats = any(":float:" in document.doc_id for document in documents)
    left_out = SECTION if floats else (*SECTION, FLOAT)
    predictions: dict[str, Prediction] = {}
    for number, value in lines(path):
        try:
            if isinstance(value, dict) and "predicted_answer" in value:
                checked = official.validate_python(value, strict=True)
                row = _from_official(checked, group_of, doc_ids, left_out)
            else:
                row = _from_own(own.validate_python(value, strict=True))
        except ValidationError as error:
            raise FormatError(f"{path}, line {number}: {problems_of(error)}") from None
        question_id, prediction = row
        if question_id not in group_of:
            raise FormatError(f"{path}, line {number}: there is no question {question_id!r:.80}")
        if question_id in predictions:
            raise FormatError(f"{path}, line {number}: {question_id!r:.80} is answered already")
        predictions[question_id] = prediction
    return predictions


def plain(text: str) -> str:
    """``text`` with single spaces, as paragraphs are compared."""
    return " ".join(text.split())


def _from_own(row: _Own) -> tuple[str, Prediction]:
    evidence = row.get("evidence")
    named = None if evidence is None else tuple(evidence)
    return row["question_id"], Prediction(row["answer"], named)


def _from_official(
    row: _Official, group_of: Mapping[str, str], doc_ids: DocIds, left_out: Sequence[str]
) -> tuple[str, Prediction]:
    group = group_of.get(row["question_id"], "")
    texts = [plain(text) for text in row["predicted_evidence"]]
    evidence = tuple(
        doc_ids.get((group, bare(text)), text)
        for text in texts
        if not any(sign in text for sign in left_out)
    )
    return row["question_id"], Prediction(row["predicted_answer"], evidence)


def bare(text: str) -> str:
    """Evidence without the words that say that it is a figure or a table."""
    return plain(text.removeprefix(FLOAT).removeprefix(":"))
