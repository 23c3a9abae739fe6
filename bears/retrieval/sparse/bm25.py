"""BM25 (Robertson et al. 1994) with Lucene's idf, exact in float64."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bears.errors import StoreError
from bears.retrieval.ranking import best
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse import postings
from bears.retrieval.sparse.analysis import ANALYZERS, Analyzer, AnalyzerName
from bears.retrieval.sparse.postings import Postings
from bears.retrieval.sparse.vocabulary import changes
from bears.types import Document, Ranking

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
            `bears.retrieval.sparse.analysis.ANALYZERS`.
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
        postings.write(documents, self._analyze, folder)

    def open(self, folder: Path) -> "BM25Searcher":
        """Map what `index` wrote into memory."""
        # Some analyzers read a dictionary at the first text, which is loading, not searching.
        self._analyze("詞")
        index = postings.read(folder)
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
        """Return for each query its best ``k`` documents with a positive score.

        Raises:
            StoreError: the postings name chunks that do not exist.
        """
        try:
            return [self._search(query, k, stopwatch) for query in queries]
        except IndexError as error:
            raise StoreError(
                f"the postings of the index are damaged: {error}. Index again: `dvc repro --force "
                "--single-item index`"
            ) from None

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
