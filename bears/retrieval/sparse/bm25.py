"""BM25 (Robertson et al. 1994) with Lucene's idf, exact in float64, over postings on disk."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import length_hint
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bears.files.intake.files import read_whole
from bears.files.progress import Progress
from bears.files.records import atomic_write, read_json, write_text
from bears.language.text import grouped
from bears.retrieval.index_files import map_array
from bears.retrieval.ranking import best
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.terms import ANALYZERS, Analyzer, AnalyzerName, Vocabulary, changes
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
    """Open what `write_postings` wrote."""
    terms = read_whole(folder / "terms.txt").decode().split("\n")[:-1]
    return Postings(
        dict(zip(terms, range(len(terms)), strict=True)),
        np.array(map_array(folder / "starts.npy")),
        map_array(folder / "pieces.npy"),
        map_array(folder / "counts.npy"),
        np.array(map_array(folder / "lengths.npy")),
        read_json(folder / "doc_ids.json"),
        read_json(folder / "groups.json"),
    )


def write_postings(documents: Iterable[Document], analyze: Analyzer, folder: Path) -> None:
    """Count the terms of ``documents``, read once, and write their postings by term.

    The postings are held in memory until then, at 14 bytes each.
    """
    vocabulary = Vocabulary(analyze)
    doc_ids: list[str] = []
    groups: list[str] = []
    lengths, batches = [np.zeros(0, np.int64)], list[Batch]()
    with Progress(total=length_hint(documents) or None, unit=" chunks", unit_scale=True) as bar:
        for some in grouped(documents, lambda each: len(each.content), TOGETHER):
            counted = vocabulary.count([document.content for document in some])
            counts = counted.counts.astype(np.min_scalar_type(counted.counts.max(initial=1)))
            chunks = (counted.texts + len(doc_ids)).astype(np.int32)
            batches.append((counted.terms.astype(np.int32), chunks, counts))
            doc_ids.extend([document.doc_id for document in some])
            groups.extend([document.group for document in some])
            lengths.append(counted.lengths)
            bar.update(len(some))
    arrays = {"lengths": np.concatenate(lengths), **_by_term(batches, len(vocabulary.terms))}
    for name, array in arrays.items():
        with atomic_write(folder / f"{name}.npy") as stream:
            np.save(stream, array)
    write_text(folder / "terms.txt", "\n".join([*vocabulary.terms, ""]))
    for name, values in (("doc_ids", doc_ids), ("groups", groups)):
        write_text(folder / f"{name}.json", json.dumps(values, ensure_ascii=False))


Batch = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[Any]]
"""Terms, chunks and counts of some chunks; see `Counts`."""


def _by_term(batches: Sequence[Batch], terms: int) -> dict[str, NDArray[Any]]:
    """Return the arrays of all postings by the names of their files; see `Postings`."""
    starts = np.zeros(terms + 1, np.int64)
    for numbers, _, _ in batches:
        starts[1:] += np.bincount(numbers, minlength=terms)
    np.cumsum(starts, out=starts)
    free = starts[:-1].copy()
    chunks = np.empty(starts[-1], np.int32)
    counts = np.empty(starts[-1], np.result_type(np.uint8, *(held for _, _, held in batches)))
    for numbers, some, held in batches:
        firsts = np.flatnonzero(changes(numbers))
        sizes = np.diff(firsts, append=len(numbers))
        shifts = np.repeat(free[numbers[firsts]] - firsts, sizes)
        places = np.arange(len(numbers)) + shifts
        free[numbers[firsts]] += sizes
        chunks[places], counts[places] = some, held
    return {"starts": starts, "pieces": chunks, "counts": counts}


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
