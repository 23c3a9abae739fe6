"""Where the gold documents stand in a run, in its own order and in those that ties leave open."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bears.evaluation.judged_rankings import Integers, JudgedRankings, ideal_ranks, relevant_ranks
from bears.files.run_table import RunTable

Gold = Mapping[str, Mapping[str, int] | None]
"""question_id to doc_id to grade, of which 0 and less say "not relevant"; None: not judged."""


def relevant(grades: Mapping[str, int] | None) -> dict[str, int]:
    """The documents of a positive grade; none of a question that is not judged."""
    return {doc_id: grade for doc_id, grade in (grades or {}).items() if grade > 0}


def tie_bounds(
    table: RunTable, gold: Gold
) -> tuple[JudgedRankings, JudgedRankings, JudgedRankings]:
    """Find the gold documents of each question, n in the gold's order, in its ranking.

    Returns:
        The rankings with tied documents in descending order of their ids; by rising grade, which
        is the worst order; and by falling grade, which is the best.
    """
    judged = [relevant(grades) for grades in gold.values()]
    ideal = ideal_ranks([list(grades.values()) for grades in judged])
    row_of = {question_id: row for row, question_id in enumerate(table.question_ids)}
    rows = np.array([row_of.get(question_id, -1) for question_id in gold], np.int64)
    start = np.where(rows < 0, 0, table.starts[rows])
    stop = np.where(rows < 0, 0, table.starts[rows + 1])
    question, line, grade = _lines(table, judged, start, stop)
    first, last = _ties(table, line)

    def judged_as(lines: Integers, grades: Integers) -> JudgedRankings:
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
    table: RunTable, judged: Sequence[Mapping[str, int]], start: Integers, stop: Integers
) -> tuple[Integers, Integers, Integers]:
    """Question number, line of the table and grade of each gold document that was found."""
    code_of = {doc_id: code for code, doc_id in enumerate(table.doc_ids)}
    # One entry a document, filled for one question at a time: looking up is then one gather.
    grade_of = np.zeros(len(table.doc_ids), np.int64)
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
    line = [np.concatenate([pair[i] for pair in lines] or [[]]).astype(np.int64) for i in (0, 1)]
    return question, line[0], line[1]


def _ties(table: RunTable, line: Integers) -> tuple[Integers, Integers]:
    """The first and the last line whose score equals that of each of ``line``."""
    begins: NDArray[np.bool_] = np.ones(len(table.scores) + 1, np.bool_)
    begins[1:-1] = table.scores[1:] != table.scores[:-1]
    begins[table.starts] = True
    groups = np.flatnonzero(begins)
    group = np.searchsorted(groups, line, side="right")
    return groups[group - 1], groups[group] - 1


def _rearranged(
    question: Integers, first: Integers, last: Integers, grade: Integers, best: bool
) -> tuple[Integers, Integers]:
    """Lines and grades with those that share a tie moved to its top or to its bottom.

    A measure that can only gain when a higher grade moves up is bounded by these two orders,
    whatever others the tied documents may have.
    """
    order = np.lexsort((-grade if best else grade, first, question))
    first, last, grade = first[order], last[order], grade[order]
    tie = np.cumsum(np.diff(first, prepend=-1) != 0) - 1
    sizes = np.bincount(tie)
    nth = np.arange(len(tie)) - (np.cumsum(sizes) - sizes)[tie]
    return (first + nth if best else last - sizes[tie] + 1 + nth), grade
