"""The ranks of the gold documents in a run, in its own order and in the extremes under ties."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bears.evaluation.metric import Integers, JudgedRankings, ideal_ranks, relevant_ranks
from bears.files.trec import RunTable, ScoredRun

Grades = NDArray[np.float64]
Gold = Mapping[str, Mapping[str, float] | None]
"""question_id to doc_id to grade; 0 and less mean "not relevant"; None means not judged.

A grade below 1 means "partially relevant", which counts only for measures of grades.
"""


def relevant(grades: Mapping[str, float] | None) -> dict[str, float]:
    """Return the documents with a positive grade; empty if the question is not judged."""
    return {doc_id: grade for doc_id, grade in (grades or {}).items() if grade > 0}


def tie_bounds(
    table: RunTable | ScoredRun, gold: Gold
) -> tuple[JudgedRankings, JudgedRankings, JudgedRankings]:
    """Find the gold documents of each question, n in the gold's order, in its ranking.

    Returns:
        The rankings with tied documents in descending order of their ids; by ascending grade, the
        worst order; and by descending grade, the best.
    """
    judged = [relevant(grades) for grades in gold.values()]
    ideal = ideal_ranks([list(grades.values()) for grades in judged])
    row_of = {question_id: row for row, question_id in enumerate(table.question_ids)}
    rows = np.array([row_of.get(question_id, -1) for question_id in gold], np.int64)
    start = np.where(rows < 0, 0, table.starts[rows])
    stop = np.where(rows < 0, 0, table.starts[rows + 1])
    if isinstance(table, ScoredRun):
        question, line, grade = _lines_of_scores(table, judged, rows)
    else:
        question, line, grade = _lines(table, judged, start, stop)
    first, last = _ties(table, line)

    def judged_as(lines: Integers, grades: Grades) -> JudgedRankings:
        ranks = lines - start[question] + 1
        return JudgedRankings(
            relevant_ranks(question, ranks, grades, len(gold)), ideal, stop - start
        )

    return (
        judged_as(line, grade),
        judged_as(*_rearranged(question, first, last, grade, best=False)),
        judged_as(*_rearranged(question, first, last, grade, best=True)),
    )


def _lines(
    table: RunTable, judged: Sequence[Mapping[str, float]], start: Integers, stop: Integers
) -> tuple[Integers, Integers, Grades]:
    """Return question number, table line and grade of each gold document that was found."""
    code_of = {doc_id: code for code, doc_id in enumerate(table.doc_ids)}
    # One entry per document, filled for one question at a time, so that a lookup is one gather.
    grade_of = np.zeros(len(table.doc_ids), np.float64)
    counts, lines = [], []
    for grades, begin, end in zip(judged, start.tolist(), stop.tolist(), strict=True):
        wanted = {code_of[doc_id]: grades[doc_id] for doc_id in grades.keys() & code_of.keys()}
        codes = list(wanted)
        grade_of[codes] = list(wanted.values())
        found = grade_of[table.documents[begin:end]]
        at = found.nonzero()[0]
        counts.append(len(at))
        lines.append((at + begin, found[at]))
        grade_of[codes] = 0
    question = np.repeat(np.arange(len(counts)), counts)
    line, grade = (np.concatenate([pair[i] for pair in lines] or [np.zeros(0)]) for i in (0, 1))
    return question, line.astype(np.int64), grade


def _lines_of_scores(
    run: ScoredRun, judged: Sequence[Mapping[str, float]], rows: Integers
) -> tuple[Integers, Integers, Grades]:
    """Return the same for a run of dictionaries, of which ``rows`` are the questions."""
    found = [
        (number, line, grades[doc_id])
        for number, (grades, row) in enumerate(zip(judged, rows.tolist(), strict=True))
        if row >= 0
        for doc_id, line in run.lines(row, grades).items()
    ]
    question, line, grade = np.array(sorted(found), np.float64).reshape(-1, 3).T
    return question.astype(np.int64), line.astype(np.int64), grade


def _ties(table: RunTable | ScoredRun, line: Integers) -> tuple[Integers, Integers]:
    """Return the first and the last line with the same score as each of ``line``."""
    begins: NDArray[np.bool_] = np.ones(len(table.scores) + 1, np.bool_)
    begins[1:-1] = table.scores[1:] != table.scores[:-1]
    begins[table.starts] = True
    groups = np.flatnonzero(begins)
    group = np.searchsorted(groups, line, side="right")
    return groups[group - 1], groups[group] - 1


def _rearranged(
    question: Integers, first: Integers, last: Integers, grade: Grades, best: bool
) -> tuple[Integers, Grades]:
    """Move the gold documents of each tie to its top or to its bottom.

    These two orders bound every measure that can only gain when a higher grade moves up.
    """
    order = np.lexsort((-grade if best else grade, first, question))
    first, last, grade = first[order], last[order], grade[order]
    tie = np.cumsum(np.diff(first, prepend=-1) != 0) - 1
    sizes = np.bincount(tie)
    nth = np.arange(len(tie)) - (np.cumsum(sizes) - sizes)[tie]
    return (first + nth if best else last - sizes[tie] + 1 + nth), grade
