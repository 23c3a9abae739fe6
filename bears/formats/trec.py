"""TREC run files, and the one rule that orders the documents of a question.

A line is ``question_id Q0 doc_id rank score tag``, columns parted by ASCII spaces or tabs. The
rank column and the order of the lines carry no meaning when a file is read: as in trec_eval, the
score and the document id decide.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

from bears.errors import FormatError
from bears.formats.records import atomic_write, numbered_lines
from bears.types import Hit, Ranking, Run

COLUMNS = ("question_id", "Q0", "doc_id", "rank", "score", "tag")


def order(hits: Iterable[Hit]) -> Ranking:
    """The ranking of ``hits``: score descending, then doc_id descending by its UTF-8 bytes.

    Source: trec_eval, form_res_rels.c, which compares equal scores by ``strcmp`` of the ids.

    Raises:
        FormatError: a document occurs twice, or a score is NaN or infinite.
    """
    # Python compares strings by code point, and UTF-8 bytes sort in that same order.
    ranking = tuple(sorted(hits, key=lambda hit: (hit.score, hit.doc_id), reverse=True))
    for hit in ranking:
        if not math.isfinite(hit.score):
            raise FormatError(f"document {hit.doc_id!r}: the score {hit.score} is not finite")
    if len({hit.doc_id for hit in ranking}) < len(ranking):
        [(doc_id, _)] = Counter(hit.doc_id for hit in ranking).most_common(1)
        raise FormatError(f"document {doc_id!r} occurs more than once in a ranking")
    return ranking


def read_run(path: Path, question_ids: Collection[str] | None) -> dict[str, Ranking]:
    """Read a run: question_id to its ranking, questions in the order of their first line.

    Args:
        path: the file; lines end with LF, and may be in any order.
        question_ids: the questions of the benchmark, or None to accept every question.

    Returns:
        Only the questions that have a line; an empty file is an empty run.

    Raises:
        FormatError: the file is absent; or, naming the line: not six columns, not UTF-8, an id
            that holds whitespace, a score that is not a finite number, a document that the
            question already has, a question outside ``question_ids``.
    """
    known = None if question_ids is None else frozenset(question_ids)
    scores: dict[str, dict[str, float]] = {}
    for number, line in numbered_lines(path):
        try:
            _add(scores, line, known)
        except ValueError as error:
            raise FormatError(f"{path}, line {number}: {error}") from None
    return {
        question_id: order(Hit(doc_id, score) for doc_id, score in documents.items())
        for question_id, documents in scores.items()
    }


def write_run(path: Path, run: Run, tag: str) -> None:
    """Write ``run`` atomically, questions in its order, documents as `order` has them.

    Scores are printed as the shortest decimals that read back as the same float, so the bytes are
    the same on every machine. A question with an empty ranking leaves no line.

    Raises:
        FormatError: an id or the tag is empty or holds whitespace, a document occurs twice in a
            question, a score is NaN or infinite. No file is then written or replaced.
    """
    try:
        _check_word(tag, "tag")
        with atomic_write(path) as stream:
            for question_id, ranking in run.items():
                stream.write(_lines(question_id, ranking, tag).encode("utf-8"))
    except ValueError as error:
        raise FormatError(f"{path} was not written: {error}") from None


def _lines(question_id: str, ranking: Ranking, tag: str) -> str:
    _check_word(question_id, "question_id")
    try:
        ordered = order(ranking)
    except FormatError as error:
        raise ValueError(f"question {question_id!r}, {error}") from None
    lines = []
    for rank, hit in enumerate(ordered, start=1):
        _check_word(hit.doc_id, "doc_id")
        # A numpy scalar prints as "np.float32(0.5)"; its value is a float all the same.
        lines.append(f"{question_id} Q0 {hit.doc_id} {rank} {float(hit.score)!r} {tag}\n")
    return "".join(lines)


def _add(scores: dict[str, dict[str, float]], line: bytes, known: frozenset[str] | None) -> None:
    # bytes.split knows ASCII whitespace alone, so that an ideographic space stays inside its
    # column and is reported instead of being taken for a separator.
    columns = line.split()
    if len(columns) != len(COLUMNS):
        raise ValueError(f"{len(columns)} columns, expected six: {' '.join(COLUMNS)}")
    question_id, doc_id = columns[0].decode("utf-8"), columns[2].decode("utf-8")
    if question_id not in scores:
        _check_word(question_id, "question_id")
        if known is not None and question_id not in known:
            raise ValueError(f"question {question_id!r} is not a question of this benchmark")
        scores[question_id] = {}
    _check_word(doc_id, "doc_id")
    if doc_id in scores[question_id]:
        raise ValueError(f"question {question_id!r} already has document {doc_id!r}")
    scores[question_id][doc_id] = _score(columns[4].decode("utf-8"))


def _score(text: str) -> float:
    try:
        score = float(text)
    except ValueError:
        score = math.nan
    # Python reads "1_0" and full-width digits as numbers; no other tool does.
    if not math.isfinite(score) or "_" in text or not text.isascii():
        raise ValueError(f"the score {text!r} is not a finite number")
    return score


def _check_word(text: str, column: str) -> None:
    if text.split() != [text]:
        raise ValueError(f"{column} {text!r} is empty or holds whitespace")
