"""The input of a measure: the ranks of the relevant documents of each question."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class RelevantRanks:
    """Relevant documents in the rankings of n questions, by question and then by rank.

    Attributes:
        n: how many questions there are.
        question: shape (m,), the number of the question, from 0.
        rank: shape (m,), from 1.
        grade: shape (m,), from 1; less for a partially relevant document.
        nth: shape (m,), from 1: which relevant document of its question this is.
    """

    n: int
    question: Integers
    rank: Integers
    grade: Floats
    nth: Integers

    def top(self, k: int | None) -> "RelevantRanks":
        """Return the places up to rank ``k``, or all of them if it is None."""
        return self if k is None else self.where(self.rank <= k)

    def where(self, chosen: NDArray[np.bool_]) -> "RelevantRanks":
        """Return the places that the mask ``chosen``, shape (m,), selects."""
        question, rank, nth = (column[chosen] for column in (self.question, self.rank, self.nth))
        return RelevantRanks(self.n, question, rank, self.grade[chosen], nth)

    def count(self) -> Integers:
        """Count the places of each question, shape (n,)."""
        return np.bincount(self.question, minlength=self.n).astype(np.int64)

    def total(self, values: NDArray[Any]) -> Floats:
        """Sum ``values``, shape (m,), over each question, shape (n,)."""
        # bincount adds in order, so it rounds as a plain loop does, on every machine.
        return np.bincount(self.question, weights=values, minlength=self.n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRankings:
    """The rankings of n questions, reduced to what measures look at.

    Attributes:
        found: the relevant documents in the rankings.
        ideal: all relevant documents in their best ranking, by descending grade.
        returned: shape (n,), the length of each ranking.
    """

    found: RelevantRanks
    ideal: RelevantRanks
    returned: Integers

    @property
    def relevant(self) -> Integers:
        """Count the relevant documents of each question, found or not, shape (n,)."""
        return self.ideal.count()

    @property
    def full(self) -> "JudgedRankings":
        """Return the rankings in which partially relevant documents are not relevant."""
        if self.ideal.grade.min(initial=1) >= 1 and self.found.grade.min(initial=1) >= 1:
            return self
        found, ideal = (each.where(each.grade >= 1) for each in (self.found, self.ideal))
        numbered = relevant_ranks(found.question, found.rank, found.grade, found.n)
        return JudgedRankings(numbered, ideal, self.returned)

    def right_if_empty(self, values: NDArray[Any]) -> Floats:
        """Replace the value of questions without relevant documents: 1 if nothing came, else 0."""
        return np.where(self.relevant > 0, values, self.returned == 0).astype(np.float64)


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide ``part`` by ``whole``, shape (n,); NaN (undefined) if ``whole`` is 0."""
    values: Floats = np.full(len(part), np.nan)
    np.divide(part, whole, out=values, where=whole > 0)
    return values


def relevant_ranks(question: Integers, rank: Integers, grade: Floats, n: int) -> RelevantRanks:
    """Number the places of each question; the arguments are sorted by question, then by rank."""
    counts = np.bincount(question, minlength=n)
    first = np.cumsum(counts) - counts
    return RelevantRanks(
        n, question, rank, grade, np.arange(1, len(question) + 1) - first[question]
    )


def ideal_ranks(judged: Sequence[Sequence[float]]) -> RelevantRanks:
    """Return the best ranking of each question from the positive grades of its documents."""
    counts = [len(grades) for grades in judged]
    grade = np.array([g for grades in judged for g in sorted(grades, reverse=True)], np.float64)
    rank = np.array([rank for count in counts for rank in range(1, count + 1)], np.int64)
    return RelevantRanks(len(judged), np.repeat(np.arange(len(judged)), counts), rank, grade, rank)


def judged_rankings(
    grades: Sequence[Sequence[int]], judged: Sequence[Sequence[int]]
) -> JudgedRankings:
    """Build judged rankings from literal grades.

    Args:
        grades: for each question, the grades of its ranked documents, best first; 0 means not
            relevant.
        judged: for each question, the positive grades of all its relevant documents.
    """
    found = [
        (question, rank, grade)
        for question, row in enumerate(grades)
        for rank, grade in enumerate(row, start=1)
        if grade > 0
    ]
    question, rank, grade = np.array(found, np.int64).reshape(-1, 3).T
    returned = np.array([len(row) for row in grades], np.int64)
    ranks = relevant_ranks(question, rank, grade.astype(np.float64), len(grades))
    return JudgedRankings(ranks, ideal_ranks(judged), returned)
