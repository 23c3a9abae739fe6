"""A run in columns, where one object a document would be too many."""

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.types import Hit, Ranking, Run

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The rankings of a run, each in its order and with a document once; made by `RunColumns`.

    Attributes:
        question_ids: the questions, n of them.
        starts: shape (n + 1,); question i has the lines from ``starts[i]`` up to
            ``starts[i + 1]``, best first.
        doc_ids: every document of the run once.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,).
        unknown: how many questions that are none of the benchmark were left out.
        remarks: why one may doubt that the scores are scores.
    """

    question_ids: Sequence[str]
    starts: NDArray[np.int64]
    doc_ids: Sequence[str]
    documents: Codes
    scores: Floats
    unknown: int = 0
    remarks: tuple[str, ...] = ()

    def rankings(self) -> dict[str, Ranking]:
        """question_id to its ranking."""
        documents, scores = self.documents.tolist(), self.scores.tolist()
        hits = [
            Hit(self.doc_ids[code], score) for code, score in zip(documents, scores, strict=True)
        ]
        starts = self.starts.tolist()
        return {
            question_id: tuple(hits[starts[i] : starts[i + 1]])
            for i, question_id in enumerate(self.question_ids)
        }


class RunColumns:
    """The lines of a run as they come, sixteen bytes each, until they are put in order.

    Args:
        questions: ids in UTF-8 that the table has even where they have no line.
    """

    def __init__(self, questions: Iterable[bytes] = ()) -> None:
        self.questions = {question: code for code, question in enumerate(questions)}
        self.documents: dict[bytes, int] = {}
        self._question_of = array("i")
        self._document_of = array("i")
        self._scores = array("d")

    def add(self, question: bytes, document: bytes, score: float) -> None:
        """Take a line; the ids are words in UTF-8, the score is finite."""
        self._question_of.append(self.questions.setdefault(question, len(self.questions)))
        self._document_of.append(self.documents.setdefault(document, len(self.documents)))
        self._scores.append(score)

    def table(self, ascending_ids: bool = False) -> RunTable:
        """The lines by question, in the order of `bears.files.trec.order`; takes no line after.

        Args:
            ascending_ids: whether documents of equal score stand by ascending id, as in Anserini.

        Raises:
            RepeatedDocument: a question has a document twice.
        """
        ordered = sorted(self.documents, reverse=ascending_ids)
        code_of = np.empty(len(ordered), np.int32)
        code_of[[self.documents[document] for document in ordered]] = np.arange(len(ordered))
        question_ids = [question.decode() for question in self.questions]
        doc_ids = [document.decode() for document in ordered]
        questions = np.frombuffer(self._question_of, np.int32)
        documents = np.frombuffer(self._document_of, np.int32)
        # In place, since a run may have ten million lines.
        np.take(code_of, documents, out=documents, mode="clip")
        scores = np.frombuffer(self._scores)
        pairs = questions.astype(np.int64)
        pairs *= len(doc_ids)
        pairs += documents
        pairs.sort()
        for pair in pairs[1:][pairs[1:] == pairs[:-1]][:1]:
            question, document = divmod(int(pair), len(doc_ids))
            raise RepeatedDocument(question_ids[question], doc_ids[document])
        del pairs
        counts = np.bincount(questions, minlength=len(question_ids))
        np.negative(questions, out=questions)
        lines = np.lexsort((documents, scores, questions))[::-1]
        del questions
        self._question_of = array("i")
        starts = np.concatenate(([0], np.cumsum(counts)))
        documents = documents[lines]
        self._document_of = array("i")
        return RunTable(question_ids, starts, doc_ids, documents, scores[lines])


class RepeatedDocument(FormatError):
    """A question has a document twice; ``line`` names them as (question_id, doc_id)."""

    def __init__(self, question_id: str, doc_id: str) -> None:
        super().__init__(
            f"question {question_id!r}, document {doc_id!r} occurs more than once in a ranking"
        )
        self.line = (question_id, doc_id)


def table_of_run(run: Run) -> RunTable:
    """The table of rankings in any order.

    Raises:
        FormatError: a document occurs twice in a question, a score is not finite, or an id could
            stand in no file.
    """
    try:
        columns = RunColumns(question_id.encode() for question_id in run)
        for question_id, ranking in run.items():
            question = question_id.encode()
            for doc_id, score in ranking:
                if not math.isfinite(score):
                    raise FormatError(
                        f"question {question_id!r}, document {doc_id!r}: the score {score} is not "
                        "finite"
                    )
                columns.add(question, doc_id.encode(), score)
    except UnicodeEncodeError as error:
        raise FormatError(f"an id is no text that UTF-8 can hold: {error}") from None
    return columns.table()
