"""The input of the measures of spans: how much of the gold each retrieved chunk covers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bears.evaluation.judged_rankings import Floats, Integers
from bears.types import ChunkRun, Document, Question, Span

Ranges = Sequence[tuple[int, int]]
"""First characters, and those after the last, ascending and without overlap."""


@dataclass(frozen=True, slots=True, eq=False)
class SpanRankings:
    """The chunks that were retrieved for n questions, by question and then by rank.

    Attributes:
        question: shape (m,), the number of the question, from 0.
        rank: shape (m,), from 1.
        size: shape (m,), the characters of the chunk.
        covers: shape (m,), the characters of gold spans that it has and no chunk before it has.
        touches: shape (m,), whether it has any character of a gold span.
        gold: shape (n,), the characters of all gold spans; 0 without any.
        touching: shape (n,), how many chunks of the index touch a gold span; 0 if unknown.
    """

    question: Integers
    rank: Integers
    size: Integers
    covers: Integers
    touches: NDArray[np.bool_]
    gold: Integers
    touching: Integers

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
                gained = _size(before) - _size(left[chunk.doc_id])
                rows.append((number, place, end - chunk.start, gained, touched))
        columns = np.array(rows, np.int64).reshape(-1, 5).T
        sizes = [sum(map(_size, golds.values())) for golds in self.spans.values()]
        touching = [self.touching.get(question_id, 0) for question_id in self.spans]
        question, rank, size, covers, touches = columns
        return SpanRankings(
            question, rank, size, covers, touches > 0, np.array(sizes), np.array(touching)
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
