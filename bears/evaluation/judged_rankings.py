"""What a measure looks at: where the relevant documents of each question stand."""

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
        grade: shape (m,), from 1.
        nth: shape (m,), from 1: which relevant document of its question this is.
    """

    n: int
    question: Integers
    rank: Integers
    grade: Integers
    nth: Integers

    def top(self, k: int | None) -> "RelevantRanks":
        """The places up to rank ``k``; all of them where it is None."""
        return self if k is None else self.where(self.rank <= k)

    def where(self, chosen: NDArray[np.bool_]) -> "RelevantRanks":
        """The places that ``chosen``, shape (m,), picks."""
        columns = (self.question, self.rank, self.grade, self.nth)
        return RelevantRanks(self.n, *(column[chosen] for column in columns))

    def count(self) -> Integers:
        """Shape (n,), how many places each question has."""
        return np.bincount(self.question, minlength=self.n).astype(np.int64)

    def total(self, values: NDArray[Any]) -> Floats:
        """Shape (n,), the sum of ``values``, shape (m,), over each question."""
        # bincount adds one after the other, so the rounding is that of a plain loop, everywhere.
        return np.bincount(self.question, weights=values, minlength=self.n).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedRankings:
    """The rankings of n questions, as far as measures can tell them apart.

    Attributes:
        found: the relevant documents that are in the rankings.
        ideal: all relevant documents, in their best ranking: by falling grade from rank 1.
        returned: shape (n,), how many documents each ranking has.
    """

    found: RelevantRanks
    ideal: RelevantRanks
    returned: Integers

    @property
    def relevant(self) -> Integers:
        """Shape (n,), how many relevant documents each question has, found or not."""
        return self.ideal.count()

    def right_if_empty(self, values: NDArray[Any]) -> Floats:
        """``values``, but for a question without relevant documents: 1 if nothing came, else 0."""
        return np.where(self.relevant > 0, values, self.returned == 0).astype(np.float64)


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """``part / whole``, shape (n,); NaN, which is undefined, where ``whole`` is 0."""
    values: Floats = np.full(len(part), np.nan)
    np.divide(part, whole, out=values, where=whole > 0)
    return values


def relevant_ranks(question: Integers, rank: Integers, grade: Integers, n: int) -> RelevantRanks:
    """Count the places of each question; they come by question and then by rank."""
    counts = np.bincount(question, minlength=n)
    first = np.cumsum(counts) - counts
    return RelevantRanks(
        n, question, rank, grade, np.arange(1, len(question) + 1) - first[question]
    )


def ideal_ranks(judged: Sequence[Sequence[int]]) -> RelevantRanks:
    """The best ranking of each question, from the positive grades of its relevant documents."""
    counts = [len(grades) for grades in judged]
    grade = np.array([g for grades in judged for g in sorted(grades, reverse=True)], np.int64)
    rank = np.array([rank for count in counts for rank in range(1, count + 1)], np.int64)
    return RelevantRanks(len(judged), np.repeat(np.arange(len(judged)), counts), rank, grade, rank)


def judged_rankings(
    grades: Sequence[Sequence[int]], judged: Sequence[Sequence[int]]
) -> JudgedRankings:
    """Literal rankings, judged.

    Args:
        grades: for each question the grades of its ranked documents, best first, 0 for one that
            is not relevant.
        judged: for each question the positive grades of all its relevant documents.
    """
    found = [
        (question, rank, grade)
        for question, row in enumerate(grades)
        for rank, grade in enumerate(row, start=1)
        if grade > 0
    ]
    question, rank, grade = np.array(found, np.int64).reshape(-1, 3).T
    returned = np.array([len(row) for row in grades], np.int64)
    return JudgedRankings(
        relevant_ranks(question, rank, grade, len(grades)), ideal_ranks(judged), returned
    )
