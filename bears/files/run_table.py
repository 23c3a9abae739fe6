"""A run in columns, since one object per document would take too much memory."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.types import Hit, Ranking, Run

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The rankings of a run, each in order and without repetitions; made by `run_table`.

    Attributes:
        question_ids: the questions, n of them.
        starts: shape (n + 1,); question i has the lines from ``starts[i]`` up to
            ``starts[i + 1]``, best first.
        doc_ids: every document of the run, once.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,).
        remarks: reasons to doubt that the scores are scores.
    """

    question_ids: Sequence[str]
    starts: NDArray[np.int64]
    doc_ids: Sequence[str]
    documents: Codes
    scores: Floats
    remarks: tuple[str, ...] = ()

    def rankings(self) -> dict[str, Ranking]:
        """Return each question_id with its ranking."""
        documents, scores = self.documents.tolist(), self.scores.tolist()
        hits = [
            Hit(self.doc_ids[code], score) for code, score in zip(documents, scores, strict=True)
        ]
        starts = self.starts.tolist()
        return {
            question_id: tuple(hits[starts[i] : starts[i + 1]])
            for i, question_id in enumerate(self.question_ids)
        }


def run_table(
    question_ids: Sequence[str],
    questions: Codes,
    doc_ids: Sequence[str],
    documents: Codes,
    scores: Floats,
    ascending_ids: bool = False,
) -> RunTable:
    """Return the table of lines in any order, ordered as `bears.files.trec.order` orders them.

    Args:
        questions: shape (lines,), index into ``question_ids``.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,), finite.
        ascending_ids: order documents of equal score by ascending id, as Anserini does.

    Raises:
        FormatError: a question has a document twice.
    """
    # Python compares strings by code point, and UTF-8 bytes sort in that same order.
    by_id = sorted(range(len(doc_ids)), key=doc_ids.__getitem__, reverse=ascending_ids)
    code_of = np.empty(len(by_id), np.int32)
    code_of[by_id] = np.arange(len(by_id))
    doc_ids, documents = [doc_ids[code] for code in by_id], code_of[documents]
    pairs = questions.astype(np.int64)
    pairs *= len(doc_ids)
    pairs += documents
    pairs.sort()
    for pair in pairs[1:][pairs[1:] == pairs[:-1]][:1]:
        question, document = divmod(int(pair), len(doc_ids))
        raise FormatError(
            f"question {question_ids[question]!r}, document {doc_ids[document]!r} occurs more than "
            "once in a ranking"
        )
    del pairs
    if not _in_order(questions, documents, scores):
        lines = np.lexsort((documents, scores, -questions))[::-1]
        documents, scores = documents[lines], scores[lines]
    counts = np.bincount(questions, minlength=len(question_ids))
    starts = np.concatenate(([0], np.cumsum(counts)))
    return RunTable(question_ids, starts, doc_ids, documents, scores)


def _in_order(questions: Codes, documents: Codes, scores: Floats) -> bool:
    """Return whether the lines are in order already, as in most files; sorting is slow."""
    tied = (scores[1:] == scores[:-1]) & (documents[1:] < documents[:-1])
    falls = (questions[1:] == questions[:-1]) & ((scores[1:] < scores[:-1]) | tied)
    return bool((falls | (questions[1:] > questions[:-1])).all())


def table_of_run(run: Run) -> RunTable:
    """Return the table of rankings in any order.

    Raises:
        FormatError: a document occurs twice in a question, a score is not finite, or an id is not
            valid Unicode.
    """
    doc_ids: dict[str, int] = {}
    hits = [hit for ranking in run.values() for hit in ranking]
    documents = [doc_ids.setdefault(doc_id, len(doc_ids)) for doc_id, _ in hits]
    questions = np.repeat(np.arange(len(run), dtype=np.int32), list(map(len, run.values())))
    scores = np.array([score for _, score in hits], np.float64)
    for at in np.flatnonzero(~np.isfinite(scores))[:1]:
        raise FormatError(
            f"question {list(run)[questions[at]]!r}, document {hits[at].doc_id!r}: the score "
            f"{scores[at]} is not finite"
        )
    try:
        "".join((*run, *doc_ids)).encode()
    except UnicodeEncodeError as error:
        raise FormatError(f"an id cannot be written as UTF-8: {error}") from None
    return run_table(list(run), questions, list(doc_ids), np.array(documents, np.int32), scores)
