"""A run in columns, where one object a document would be too many."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.types import Hit, Ranking, Run

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RunTable:
    """The rankings of a run, each in its order and with a document once; made by `arranged`.

    Attributes:
        question_ids: the questions, n of them.
        starts: shape (n + 1,); question i has the lines from ``starts[i]`` up to
            ``starts[i + 1]``, best first.
        doc_ids: every document of the run once, ascending by its UTF-8 bytes.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,).
    """

    question_ids: Sequence[str]
    starts: Integers
    doc_ids: Sequence[str]
    documents: Integers
    scores: Floats

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


def table_of_run(run: Run) -> RunTable:
    """The table of rankings in any order. Raises FormatError as `arranged`."""
    hits = list(chain.from_iterable(run.values()))
    lengths = [len(ranking) for ranking in run.values()]
    return _table(list(run), lengths, [hit.doc_id for hit in hits], [hit.score for hit in hits])


def table_of_scores(scores: Mapping[str, Mapping[str, float]]) -> RunTable:
    """The table of ``question_id: {doc_id: score}``. Raises FormatError as `arranged`."""
    doc_ids = list(chain.from_iterable(scores.values()))
    values = chain.from_iterable(documents.values() for documents in scores.values())
    return _table(list(scores), list(map(len, scores.values())), doc_ids, values)


def _table(
    question_ids: Sequence[str],
    lengths: Sequence[int],
    ids: Sequence[str],
    scores: Iterable[float],
) -> RunTable:
    import pyarrow

    try:
        doc_ids, documents = numbered(
            pyarrow.array(ids, pyarrow.large_string()).dictionary_encode()
        )
    except UnicodeEncodeError as error:
        raise FormatError(f"a document id is no text that UTF-8 can hold: {error}") from None
    questions = np.repeat(np.arange(len(question_ids)), lengths)
    return arranged(
        question_ids, questions, doc_ids, documents, np.fromiter(scores, np.float64, len(ids))
    )


def numbered(encoded: Any) -> tuple[list[str], Integers]:
    """The distinct texts of a column, ascending by their UTF-8 bytes, and which of them a row is.

    Args:
        encoded: a dictionary array of pyarrow.
    """
    # DLPack, since to_numpy of pyarrow imports pandas, which takes a second.
    from pyarrow import compute

    ascending = compute.array_sort_indices(encoded.dictionary)
    place = np.argsort(np.from_dlpack(ascending))
    return encoded.dictionary.take(ascending).to_pylist(), place[np.from_dlpack(encoded.indices)]


def arranged(
    question_ids: Sequence[str],
    questions: Integers,
    doc_ids: Sequence[str],
    documents: Integers,
    scores: Floats,
) -> RunTable:
    """Group lines by question and put each group in the order of `bears.formats.trec.order`.

    Args:
        question_ids: n questions.
        questions: shape (lines,), index into ``question_ids``.
        doc_ids: documents, ascending by code point, which is the order of their UTF-8 bytes.
        documents: shape (lines,), index into ``doc_ids``.
        scores: shape (lines,).

    Raises:
        FormatError: a document occurs twice in a question, or a score is not finite.
    """
    for line in np.flatnonzero(~np.isfinite(scores))[:1]:
        raise FormatError(
            f"question {question_ids[questions[line]]!r}, document {doc_ids[documents[line]]!r}: "
            f"the score {scores[line]} is not finite"
        )
    if (np.diff(questions) < 0).any():
        by_question = np.argsort(questions, kind="stable")
        questions, documents = questions[by_question], documents[by_question]
        scores = scores[by_question]
    counts = np.bincount(questions, minlength=len(question_ids))
    starts = np.concatenate(([0], np.cumsum(counts)))
    documents, scores = _ordered(questions, starts, documents, scores)
    keys = np.sort(questions * len(doc_ids) + documents)
    for key in keys[1:][keys[1:] == keys[:-1]][:1]:
        question, document = divmod(int(key), len(doc_ids))
        raise FormatError(
            f"question {question_ids[question]!r}, document {doc_ids[document]!r} "
            "occurs more than once in a ranking"
        )
    return RunTable(question_ids, starts, doc_ids, documents, scores)


def _ordered(
    questions: Integers, starts: Integers, documents: Integers, scores: Floats
) -> tuple[Integers, Floats]:
    """The columns with each question in order; most runs are in order as they come."""
    falls = scores[1:] < scores[:-1]
    falls |= (scores[1:] == scores[:-1]) & (documents[1:] < documents[:-1])
    falls |= questions[1:] != questions[:-1]
    disordered = np.unique(questions[1:][~falls])
    if len(disordered):
        documents, scores = documents.copy(), scores.copy()
    for question in disordered:
        lines = slice(starts[question], starts[question + 1])
        best_first = np.lexsort((documents[lines], scores[lines]))[::-1]
        documents[lines], scores[lines] = documents[lines][best_first], scores[lines][best_first]
    return documents, scores
