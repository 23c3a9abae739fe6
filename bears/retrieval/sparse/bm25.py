"""BM25 (Robertson et al. 1994) with Lucene's idf, exact in float64, over postings on disk."""

import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from operator import length_hint
from pathlib import Path
from types import MappingProxyType
from typing import IO, Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bears.files.intake.files import read_whole
from bears.files.progress import Progress
from bears.files.records import atomic_write, write_text
from bears.language.text import grouped
from bears.retrieval.index_files import map_array, read_value
from bears.retrieval.ranking import best
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.terms import (
    ANALYZERS,
    Analyzer,
    AnalyzerName,
    Counts,
    Vocabulary,
    changes,
)
from bears.retrieval.vectors import Terms
from bears.types import Document, Ranking

TOGETHER = 2 << 20
"""Characters that are counted together; they and the vocabulary set how much memory is used."""


@dataclass(frozen=True, slots=True)
class Postings:
    """An index that `write_postings` wrote, memory-mapped if it is large.

    Args:
        numbers: term to its place in the order in which they first appear.
        starts: where the postings of a term begin, shape (terms + 1,).
        chunks: number of the chunk, ascending within a term, shape (postings,).
        counts: how often the chunk holds the term, shape (postings,).
        lengths: terms of each chunk, shape (chunks,).
        doc_ids: of each chunk.
        groups: of each chunk.
    """

    numbers: dict[str, int]
    starts: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[Any]
    lengths: NDArray[np.int64]
    doc_ids: list[str]
    groups: list[str]


def read_postings(folder: Path) -> Postings:
    """Open what `write_postings` wrote.

    Raises:
        StoreError: a file is damaged.
        FormatError: a file is missing.
    """
    terms = read_whole(folder / "terms.txt").decode().split("\n")[:-1]
    doc_ids, groups = (
        read_value(folder / f"{name}.json", list[str]) for name in ("doc_ids", "groups")
    )
    starts = np.array(map_array(folder / "starts.npy", "i", (len(terms) + 1,)))
    size = int(starts[-1])
    return Postings(
        dict(zip(terms, range(len(terms)), strict=True)),
        starts,
        map_array(folder / "pieces.npy", "i", (size,)),
        map_array(folder / "counts.npy", "u", (size,)),
        np.array(map_array(folder / "lengths.npy", "i", (len(doc_ids),))),
        doc_ids,
        groups,
    )


def write_postings(documents: Iterable[Document], analyze: Analyzer, folder: Path) -> None:
    """Count the terms of ``documents``, read once, and write their postings by term."""
    vocabulary = Vocabulary(analyze)
    doc_ids: list[str] = []
    groups: list[str] = []
    lengths = [np.zeros(0, np.int64)]
    bar = Progress(total=length_hint(documents) or None, unit=" chunks", unit_scale=True)
    with bar, tempfile.TemporaryFile(dir=folder) as stream:
        spilled = _Spilled(stream)
        for batch in grouped(documents, lambda each: len(each.content), TOGETHER):
            counted = vocabulary.count([document.content for document in batch])
            spilled.add(counted, first=len(doc_ids))
            doc_ids.extend([document.doc_id for document in batch])
            groups.extend([document.group for document in batch])
            lengths.append(counted.lengths)
            bar.update(len(batch))
        _write_by_term(vocabulary.terms, spilled, folder)
    _save(folder / "lengths.npy", np.concatenate(lengths))
    for name, values in (("doc_ids", doc_ids), ("groups", groups)):
        write_text(folder / f"{name}.json", json.dumps(values, ensure_ascii=False))


class _Spilled:
    """Postings of batch after batch, kept on disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._batches, self.highest = stream, 0, 1

    def add(self, counted: Counts, first: int) -> None:
        """Keep a batch whose first chunk has the number ``first``."""
        highest = int(counted.counts.max(initial=1))
        for array in (
            counted.terms.astype(np.int32),
            (counted.texts + first).astype(np.int32),
            counted.counts.astype(np.min_scalar_type(highest)),
        ):
            np.save(self._stream, array)
        self._batches += 1
        self.highest = max(self.highest, highest)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Yield terms, chunks and counts of each batch; see `Counts`."""
        self._stream.seek(0)
        for _ in range(self._batches):
            yield np.load(self._stream), np.load(self._stream), np.load(self._stream)


def _write_by_term(terms: list[str], spilled: _Spilled, folder: Path) -> None:
    starts = np.zeros(len(terms) + 1, np.int64)
    for batch_terms, _, _ in spilled:
        starts[1:] += np.bincount(batch_terms, minlength=len(terms))
    np.cumsum(starts, out=starts)
    free = starts[:-1].copy()
    write_text(folder / "terms.txt", "\n".join([*terms, ""]))
    _save(folder / "starts.npy", starts)
    size, smallest = int(starts[-1]), np.min_scalar_type(spilled.highest)
    with (
        _array(folder / "pieces.npy", size, np.dtype(np.int32)) as chunks,
        _array(folder / "counts.npy", size, smallest) as counts,
    ):
        for batch_terms, batch_chunks, batch_counts in spilled:
            firsts = np.flatnonzero(changes(batch_terms))
            sizes = np.diff(firsts, append=len(batch_terms))
            shifts = np.repeat(free[batch_terms[firsts]] - firsts, sizes)
            places = np.arange(len(batch_terms)) + shifts
            free[batch_terms[firsts]] += sizes
            chunks[places], counts[places] = batch_chunks, batch_counts


def _save(path: Path, array: NDArray[Any]) -> None:
    with atomic_write(path) as stream:
        np.save(stream, array)


@contextmanager
def _array(path: Path, size: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Write an array that is filled in place in its file."""
    with atomic_write(path) as stream:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.flush()
        start = stream.tell()
        if size and hasattr(os, "posix_fallocate"):
            # On a full disk this raises; a write to a mapped hole would end the process (SIGBUS).
            os.posix_fallocate(stream.fileno(), start, size * dtype.itemsize)
        # A file of no bytes cannot be mapped.
        array = np.memmap(stream, dtype, "r+", start, (size,)) if size else np.zeros(0, dtype)
        yield array.view(np.ndarray)


ChunkNumbers = NDArray[np.int32]
Scores = NDArray[np.float64]

EXACT_LENGTHS = 24
"""Lengths that Lucene keeps as they are before it counts in four bits."""


class BM25:
    """Sparse retrieval.

    Args:
        k1: term frequency saturation.
        b: length normalization, 0 to 1.
        language: of the indexed texts, a BCP 47 tag.
        analyzers: from a language, or the first part of one, to a name of
            `bears.retrieval.sparse.terms.ANALYZERS`.
        default: the name for any other language.
        lucene_lengths: languages whose lengths are rounded as Lucene does (`lucene_length`).
        analyzer: a name that overrides the language's; empty: use the language's.
    """

    def __init__(
        self,
        k1: Annotated[float, Field(ge=0)],
        b: Annotated[float, Field(ge=0, le=1)],
        language: str = "",
        analyzers: Mapping[str, AnalyzerName] = MappingProxyType({}),
        default: Annotated[AnalyzerName, Field(min_length=1)] = "words",
        lucene_lengths: Sequence[str] = (),
        analyzer: AnalyzerName = "",
    ) -> None:
        self._k1, self._b = k1, b
        primary = language.split("-")[0]
        chosen = analyzer or analyzers.get(language) or analyzers.get(primary) or default
        self._analyze = ANALYZERS[chosen]
        self._rounded = language in lucene_lengths or primary in lucene_lengths

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:  # noqa: ARG002
        """Write the postings of every term."""
        write_postings(documents, self._analyze, folder)

    def open(self, folder: Path) -> "BM25Searcher":
        """Map what `index` wrote into memory."""
        # Some analyzers read a dictionary at the first text, which is loading, not searching.
        self._analyze("詞")
        index = read_postings(folder)
        lengths = lucene_length(index.lengths) if self._rounded else index.lengths
        return BM25Searcher(index, self._k1, self._b, lengths, self._analyze)


def lucene_length(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round lengths as Lucene keeps them, in one byte: SmallFloat.intToByte4 and back.

    The part over 24 keeps its first four bits, so that lengths up to 40 are exact.
    """
    over = np.maximum(lengths - EXACT_LENGTHS, 0)
    dropped = np.maximum(np.frexp(over.astype(np.float64))[1] - 4, 0)
    return np.where(dropped > 0, EXACT_LENGTHS + (over >> dropped << dropped), lengths)


class BM25Searcher:
    """A BM25 index. Documents that share no term with the question are left out."""

    def __init__(
        self, index: Postings, k1: float, b: float, lengths: NDArray[Any], analyze: Analyzer
    ) -> None:
        self._index, self._analyze = index, analyze
        frequencies = np.diff(index.starts)
        n = len(lengths)
        self._idf = np.log(1 + (n - frequencies + 0.5) / (frequencies + 0.5))
        # The average is of the exact lengths, in Lucene too.
        average = index.lengths.mean() if index.lengths.any() else 1.0
        self._norms = k1 * ((1 - b) + b * lengths / average)

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return for each query its best ``k`` documents with a positive score."""
        return [self._search(query, k, stopwatch) for query in queries]

    def _search(self, query: Query, k: int, stopwatch: Stopwatch) -> Ranking:
        with stopwatch("encode"):
            counts = self._counts(query.text)
        with stopwatch("search"):
            allowed = self._groups == query.group if query.group else None
            chunks, scores = self._scored(counts, allowed)
            return best(scores, self._index.doc_ids, k, chunks)

    def weights(self, text: str) -> dict[int, float]:
        """Return the numbers of the known terms of a text, ascending, with their idf."""
        return {term: float(self._idf[term]) for term in sorted(self._counts(text))}

    def terms_asked(self, text: str) -> Terms:
        """Return the known terms of a question; their product with `terms_held` is the score."""
        counts = self._counts(text)
        return Terms([*counts], [held * float(self._idf[term]) for term, held in counts.items()])

    def terms_held(self, chunks: range) -> tuple[Terms, ...]:
        """Return the terms of each of these chunks, with their saturated frequencies."""
        order, starts = self._by_chunk
        index, found = self._index, []
        for chunk in chunks:
            places = order[starts[chunk] : starts[chunk + 1]]
            counts = index.counts[places]
            numbers = index.starts.searchsorted(places, side="right") - 1
            found.append(Terms(numbers.tolist(), (counts / (counts + self._norms[chunk])).tolist()))
        return tuple(found)

    def _counts(self, text: str) -> Counter[int]:
        """Return the numbers of the known terms of a text, and how often it has them."""
        numbers = map(self._index.numbers.get, self._analyze(text))
        return Counter(number for number in numbers if number is not None)

    def _scored(
        self, counts: Mapping[int, int], allowed: NDArray[np.bool_] | None
    ) -> tuple[ChunkNumbers, Scores]:
        """Return every chunk that holds a term, ascending, with its score.

        Args:
            counts: terms of the question, to how often it has them.
            allowed: of each chunk, whether it may be found; None: all may.
        """
        terms = np.array(sorted(counts), np.int64)
        weights = np.array([counts[term] for term in terms.tolist()]) * self._idf[terms]
        # Sums of floats depend on their order, and a ranking on the sums.
        order = (-weights).argsort(kind="stable")
        terms, weights = terms[order], weights[order]
        index = self._index
        starts, ends = index.starts[terms], index.starts[terms + 1]
        slices = list(map(slice, starts.tolist(), ends.tolist()))
        chunks = np.concatenate([index.chunks[place] for place in slices] or [index.chunks[:0]])
        held = np.concatenate([index.counts[place] for place in slices] or [index.counts[:0]])
        values = self._norms.take(chunks)
        values += held
        np.divide(held, values, out=values)
        values *= weights.repeat(ends - starts)
        if allowed is not None:
            keep = allowed[chunks]
            chunks, values = chunks[keep], values[keep]
        return _summed(chunks, values, len(index.lengths))

    @cached_property
    def _by_chunk(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of all postings by chunk, and where those of each chunk begin."""
        chunks, n = self._index.chunks, len(self._index.lengths)
        ends = np.bincount(chunks, minlength=n).cumsum()
        return chunks.argsort(kind="stable"), np.concatenate([[0], ends])

    @cached_property
    def _groups(self) -> NDArray[np.str_]:
        return np.array(self._index.groups)


def _summed(chunks: ChunkNumbers, values: Scores, n: int) -> tuple[ChunkNumbers, Scores]:
    """Return each chunk once, ascending, with the sum of its values, added in their order."""
    if len(chunks) > n / 16:
        scores = np.bincount(chunks, values, n).astype(np.float64, copy=False)
        # Comparing first is several times faster than looking for nonzero floats.
        (held,) = (scores != 0).nonzero()
        return held.astype(np.int32), scores.take(held)
    order = np.argsort(chunks, kind="stable")
    chunks = chunks.take(order)
    first = changes(chunks)
    summed = np.bincount(np.cumsum(first) - 1, values.take(order))
    return chunks[first], summed.astype(np.float64, copy=False)
