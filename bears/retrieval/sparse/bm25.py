"""BM25 (Robertson et al. 1994) with Lucene's idf, exact in float64."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bears.errors import StoreError
from bears.retrieval.parts import parts
from bears.retrieval.ranking import best
from bears.retrieval.retriever import Query
from bears.retrieval.sparse import postings
from bears.retrieval.sparse.analysis import ANALYZERS, Analyzer, AnalyzerName
from bears.retrieval.sparse.postings import Postings
from bears.retrieval.sparse.scores import BM25Scores, Numbers, Scores
from bears.retrieval.sparse.vocabulary import BOUNDARY
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Ranking

EXACT_LENGTHS = 24
"""Lengths that Lucene keeps as they are before it counts in four bits."""


class BM25:
    """Sparse retrieval.

    Args:
        k1: term frequency saturation.
        b: length normalisation, 0 to 1.
        language: of the indexed texts, a BCP 47 tag.
        analyzers: from a language, or the first part of one, to a name of
            `bears.retrieval.sparse.analysis.ANALYZERS`.
        default: the name for any other language.
        lucene_lengths: languages whose lengths are rounded as Lucene does (`lucene_length`).
        analyzer: a name that is taken whatever the language is; empty: none is.
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
    """Lengths as Lucene keeps them, in one byte: SmallFloat.intToByte4 and back.

    What is over 24 keeps its first four bits, so that lengths up to 40 are exact.
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
        # The average is of the lengths as they are, in Lucene too.
        average = index.lengths.mean() if index.lengths.any() else 1.0
        self._norms = k1 * ((1 - b) + b * lengths / average)
        self._scores = BM25Scores(index, self._idf, self._norms)

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query its best ``k`` documents with a positive score.

        Raises:
            StoreError: the postings name chunks that are not there.
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
            terms, counts = self.query_vector(query.text)
        with stopwatch("search"):
            allowed = self._groups == query.group if query.group else None
            chunks, scores = self._scores.of(terms, counts, allowed)
            return best(scores, self._index.doc_ids, k, chunks)

    def query_vector(self, text: str) -> tuple[Numbers, Scores]:
        """What a question asks of an index of sparse vectors.

        Returns:
            Numbers of the terms that the index knows, ascending, and how often each is asked for.
        """
        number = self._index.numbers.get
        counted: dict[int, int] = {}
        for part in parts(text, BOUNDARY):
            for term in map(number, self._analyze(part)):
                if term is not None:
                    counted[term] = counted.get(term, 0) + 1
        terms = sorted(counted)
        return np.array(terms, np.int64), np.array([counted[t] for t in terms], np.float64)

    def weights(self, text: str) -> dict[int, float]:
        """The numbers of the terms of a text that the index knows, ascending, with their idf."""
        terms, _ = self.query_vector(text)
        return dict(zip(terms.tolist(), self._idf[terms].tolist(), strict=True))

    def document_vector(self, chunk: int) -> tuple[Numbers, Scores]:
        """A chunk as a sparse vector; its product with a `query_vector` is the BM25 score.

        Args:
            chunk: its place in the order of indexing, from 0.

        Returns:
            Numbers of the terms, ascending, and their weights.
        """
        terms, counts, ends = self._by_chunk
        own = slice(ends[chunk], ends[chunk + 1])
        tf = counts[own].astype(np.float64)
        return terms[own], self._idf[terms[own]] * (tf / (tf + self._norms[chunk]))

    @cached_property
    def _by_chunk(self) -> tuple[Numbers, NDArray[Any], Numbers]:
        """The postings by chunk: terms, counts, and where each chunk begins."""
        index = self._index
        order = np.argsort(index.chunks, kind="stable")
        terms = np.repeat(np.arange(len(self._idf)), np.diff(index.starts))
        ends = np.cumsum(np.bincount(index.chunks, minlength=len(index.lengths)))
        return terms[order], index.counts[order], np.concatenate(([0], ends))

    @cached_property
    def _groups(self) -> NDArray[np.str_]:
        return np.array(self._index.groups)
