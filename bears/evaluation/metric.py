"""What measures read, ranks of relevant documents or the gold covered, and what they declare."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bears.types import ChunkRun, Document, Question, Span

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Ranges = Sequence[tuple[int, int]]
"""First characters, and those after the last, ascending and without overlap."""
Reads = Literal["ranks", "sources", "spans", "judgements"]
"""What a measure reads: the ranks of relevant documents, the same with a place for each chunk, the
gold spans in the chunks, or every judgement and score."""


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


@dataclass(frozen=True, slots=True, eq=False)
class SpanRankings:
    """The chunks that were retrieved for n questions, by question and then by rank.

    Attributes:
        question: shape (m,), the number of the question, from 0.
        rank: shape (m,), from 1.
        size: shape (m,), the characters of the chunk.
        covers: shape (m,), the characters of gold spans that it has and no chunk before it has.
        gained: m of them, where these are, from the start of the chunk.
        touches: shape (m,), whether it has any character of a gold span.
        gold: shape (n,), the characters of all gold spans; 0 without any.
        touching: shape (n,), how many chunks of the index touch a gold span; 0 if unknown.
    """

    question: Integers
    rank: Integers
    size: Integers
    covers: Integers
    gained: Sequence[Ranges]
    touches: NDArray[np.bool_]
    gold: Integers
    touching: Integers

    def shown_in(self, budget: int) -> "SpanRankings":
        """Return the chunks as far as their lengths together fit; the last one is cut.

        Args:
            budget: characters for each question.
        """
        total = np.cumsum(self.size)
        first = np.searchsorted(self.question, self.question)
        before = total - self.size - (total - self.size)[first]
        size = np.clip(budget - before, 0, self.size)
        covers = [
            sum(min(end, length) - start for start, end in ranges if start < length)
            for ranges, length in zip(self.gained, size.tolist(), strict=True)
        ]
        covered = np.array(covers, np.int64)
        return replace(self, size=size, covers=covered, touches=covered > 0)

    def total(self, values: NDArray[np.generic], k: int | None) -> Floats:
        """Sum ``values``, shape (m,), over the first ``k`` chunks of each question, shape (n,).

        Args:
            k: None for as many as there are chunks that touch the question's gold.
        """
        last = self.touching if k is None else np.full(len(self.gold), k)
        weights = np.where(self.rank <= last[self.question], values, 0)
        sums = np.bincount(self.question, weights, len(self.gold))
        return np.where(last > 0, sums, np.nan)

    def defined(self, values: Floats) -> Floats:
        """Return ``values``, shape (n,), with NaN for questions without a gold span."""
        return np.where(self.gold > 0, values, np.nan)


@dataclass(frozen=True)
class SpanGold:
    """The gold spans of a benchmark, and what is needed to compare chunks with them.

    Args:
        spans: question_id to doc_id to the characters that answer it, for every question.
        lengths: doc_id to the characters of every document.
        touching: question_id to the number of chunks of the index that touch its gold.
    """

    spans: Mapping[str, Mapping[str, Ranges]]
    lengths: Mapping[str, int]
    touching: Mapping[str, int]

    def __bool__(self) -> bool:
        """Return whether any question has a span."""
        return any(self.spans.values())

    def rankings(self, run: ChunkRun) -> SpanRankings:
        """Return what the chunks of a run cover, n questions in the gold's order."""
        rows: list[tuple[int, int, int, int, bool]] = []
        gained: list[Ranges] = []
        for number, (question_id, golds) in enumerate(self.spans.items()):
            if not golds:
                continue
            left = {doc_id: list(ranges) for doc_id, ranges in golds.items()}
            for place, hit in enumerate(run.get(question_id, ()), start=1):
                chunk = hit.chunk
                end = self.lengths.get(chunk.doc_id, 0) if chunk.end is None else chunk.end
                ranges = golds.get(chunk.doc_id, ())
                touched = any(chunk.meets(*each) for each in ranges)
                before = left.get(chunk.doc_id, [])
                left[chunk.doc_id] = [
                    part for each in before for part in _without(each, chunk.start, end)
                ]
                parts = [(max(a, chunk.start), min(b, end)) for a, b in before]
                new = [(a - chunk.start, b - chunk.start) for a, b in parts if a < b]
                gained.append(new)
                rows.append((number, place, end - chunk.start, _size(new), touched))
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        sizes = [sum(map(_size, golds.values())) for golds in self.spans.values()]
        touching = [self.touching.get(question_id, 0) for question_id in self.spans]
        question, rank, size, covers, touches = columns
        return SpanRankings(
            *(question, rank, size, covers, gained, touches > 0),
            *(np.array(sizes), np.array(touching)),
        )


def span_gold(
    questions: Iterable[Question],
    documents: Iterable[Document],
    ranges: Callable[[str], Ranges] | None = None,
) -> SpanGold:
    """Return the gold spans of a benchmark.

    Args:
        questions: of the benchmark. Lost spans do not count.
        documents: of the benchmark; read only if there are spans.
        ranges: cuts a document's text as the index does; None if that is unknown.
    """
    of_question = {question.question_id: merged(question.gold_spans) for question in questions}
    lengths: dict[str, int] = {}
    chunks: dict[str, Ranges] = {}
    if any(of_question.values()):
        gold = {doc_id for golds in of_question.values() for doc_id in golds}
        for document in documents:
            lengths[document.doc_id] = len(document.content)
            if ranges and document.doc_id in gold:
                chunks[document.doc_id] = ranges(document.content)
    touching = {
        question_id: sum(
            any(first < end and start < last for first, last in golds[doc_id])
            for doc_id in golds
            for start, end in chunks.get(doc_id, ())
        )
        for question_id, golds in of_question.items()
    }
    return SpanGold(of_question, lengths, touching)


def merged(spans: Iterable[Span]) -> dict[str, Ranges]:
    """Return doc_id to the characters of spans, each once."""
    found: dict[str, list[tuple[int, int]]] = {}
    for span in sorted(spans, key=lambda span: (span.doc_id, span.start)):
        ranges = found.setdefault(span.doc_id, []) if not span.lost else []
        if ranges and span.start <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(ranges[-1][1], span.end)
        else:
            ranges.append((span.start, span.end))
    return dict(found)


def _without(each: tuple[int, int], start: int, end: int) -> list[tuple[int, int]]:
    parts = (each[0], min(each[1], start)), (max(each[0], end), each[1])
    return [part for part in parts if part[0] < part[1]]


def _size(ranges: Ranges) -> int:
    return sum(end - start for start, end in ranges)


@dataclass(frozen=True, slots=True)
class Metric:
    """A measure without its cutoff.

    Args:
        name: its name in configurations.
        function: from what it ``reads`` and the cutoff to one value per question; see
            `bears.evaluation.measures`.
        cutoff: whether ``name@k`` is allowed; of a measure of spans also ``name@Nc``, the best
            chunks that fit into N characters.
        whole: whether the bare name is allowed, for the whole ranking, or for a measure of spans
            for as many chunks as touch the gold.
        yes_or_no: whether every value is 0 or 1, so that the mean is a share of the questions.
        gains_by_rank: whether moving a relevant document up never lowers the value. If so, the
            best and the worst order of tied documents bound it.
        graded: whether the size of a grade counts.
        reads: ``ranks`` and ``sources`` are `JudgedRankings`, ``spans`` are `SpanRankings`, and
            ``judgements`` are a `bears.evaluation.foreign.NumberedRun`.
        best: the value of a perfect ranking, unless the gold caps it; infinite if it is unknown.
        summed: whether the value of several questions is a sum, not a mean.
        foreign: its names in ir_measures, which defines it in the same way for every question that
            has a relevant document.
    """

    name: str
    function: Callable[[Any, int | None], Floats]
    cutoff: bool = True
    whole: bool = False
    yes_or_no: bool = False
    gains_by_rank: bool = True
    graded: bool = False
    reads: Reads = "ranks"
    best: float = 1
    summed: bool = False
    foreign: tuple[str, ...] = ()
