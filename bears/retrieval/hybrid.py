"""Two retrievers as one: their rankings fused by reciprocal ranks."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from bears.errors import ConfigurationError
from bears.retrieval.bm25 import BM25, BM25Searcher
from bears.retrieval.clock import Clock
from bears.retrieval.dense import Dense
from bears.retrieval.encoder import Encoder
from bears.retrieval.fusion import reciprocal_ranks
from bears.retrieval.retriever import Query, Retriever, Searcher
from bears.retrieval.spool import Spool
from bears.retrieval.vector_store import (
    Approximate,
    Shard,
    Sparse,
    SparseScores,
    TwoLegs,
    TwoLegStore,
    VectorSearcher,
)
from bears.types import Document, Ranking


@dataclass(frozen=True, slots=True)
class Fusion:
    """How rankings become one.

    Args:
        constant: what is added to a rank, which counts from 1.
        window: documents of each leg that take part, at least as many as are asked for.
        by_store: the store fuses, in one query; it leaves the order of ties open, and its window
            counts pieces.
    """

    constant: int
    window: int
    by_store: bool


class Hybrid:
    """Reciprocal rank fusion of two retrievers, usually a dense and a sparse one.

    Where the dense one keeps its vectors in Qdrant and the sparse one is BM25, a point has the
    vectors of both, and one request asks both legs. Otherwise each has an index of its own. The
    ranking is the same.

    Args:
        name: of the file under conf/retriever.
        dense: the first retriever.
        sparse: the second one.
        constant: see `Fusion`; 60 in the paper.
        window: see `Fusion`.
        fused_by: ``us``, with our tie rule, or the ``store``.

    Raises:
        ConfigurationError: a value does not fit.
    """

    def __init__(
        self,
        name: str,
        dense: Retriever,
        sparse: Retriever,
        constant: int,
        window: int,
        fused_by: Literal["us", "store"],
    ) -> None:
        if fused_by not in ("us", "store"):
            raise ConfigurationError(f"retriever.fused_by is {fused_by!r}; expected us or store")
        if constant < 1 or window < 1:
            raise ConfigurationError(
                f"retriever.constant is {constant}, retriever.window {window}; expected at least 1"
            )
        self.name, self._dense, self._sparse = name, dense, sparse
        self._fusion = Fusion(constant, window, fused_by == "store")
        self._together = _together(dense, sparse)
        if self._fusion.by_store and not self._together:
            raise ConfigurationError(
                "retriever.fused_by is 'store', but nothing here keeps dense vectors and those of "
                "BM25 together; choose vector_store=qdrant or qdrant-local, or fused_by=us"
            )

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Index both. The documents are read once and wait in an unnamed file for the second."""
        dense, sparse = folder / "dense", folder / "sparse"
        for path in (dense, sparse, scratch):
            path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=scratch) as stream:
            spool = Spool(stream, documents)
            self._sparse.index(spool, sparse, scratch)
            if self._together:
                self._together.over(sparse).index(spool.again(), dense, scratch)
            else:
                self._dense.index(spool.again(), dense, scratch)

    def open(self, folder: Path) -> Searcher:
        """Open both."""
        dense, sparse = folder / "dense", folder / "sparse"
        if self._together:
            return self._together.open(dense, sparse, self._fusion)
        return ApartSearcher(self._dense.open(dense), self._sparse.open(sparse), self._fusion)


class ApartSearcher:
    """Two searchers, asked one after the other."""

    def __init__(self, first: Searcher, second: Searcher, fusion: Fusion) -> None:
        self._legs, self._fusion = (first, second), fusion

    def search(self, query: Query, k: int, clock: Clock) -> Ranking:
        """The ``k`` documents of highest fused score."""
        window = max(self._fusion.window, k)
        rankings = [leg.search(query, window, clock) for leg in self._legs]
        with clock("fuse"):
            return reciprocal_ranks(rankings, k, self._fusion.constant)

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """That of the leg which may miss something; exact where none may."""
        window = max(self._fusion.window, k)
        for leg in self._legs:
            if isinstance(leg, Approximate):
                said = leg.exactness(texts, window)
                if not said["exact"]:
                    return said
        return {"exact": True}


class TogetherSearcher:
    """One store with the vectors of both legs."""

    def __init__(
        self, encoder: Encoder, bm25: BM25Searcher, store: TwoLegs, fusion: Fusion
    ) -> None:
        self._encoder, self._bm25, self._store, self._fusion = encoder, bm25, store, fusion

    def search(self, query: Query, k: int, clock: Clock) -> Ranking:
        """The ``k`` documents of highest fused score."""
        window, constant = max(self._fusion.window, k), self._fusion.constant
        with clock("encode"):
            vector = self._encoder.questions([query.text])[0]
            sparse = Sparse(*self._bm25.query_vector(query.text))
        if self._fusion.by_store:
            with clock("search"):
                # Qdrant counts ranks from 0.
                return self._store.fused(vector, sparse, window, k, constant + 1, query.group)
        with clock("search"):
            rankings = self._store.legs(vector, sparse, self._scores(sparse), window, query.group)
        with clock("fuse"):
            return reciprocal_ranks(rankings, k, constant)

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """That of the dense leg; the sparse one is exact."""
        window = max(self._fusion.window, k)
        return self._store.exactness(self._encoder.questions(list(texts)), window)

    def _scores(self, asked: Sparse) -> SparseScores:
        def score(piece: int) -> float:
            terms, weights = self._bm25.document_vector(piece)
            places = np.searchsorted(terms, asked.indices).clip(max=len(terms) - 1)
            shared = terms[places] == asked.indices
            return float(weights[places[shared]] @ asked.values[shared])

        return lambda pieces: np.array([score(piece) for piece in pieces.tolist()])


@dataclass(frozen=True, slots=True)
class _Together:
    """A dense retriever and BM25 whose vectors lie in one store."""

    dense: Dense
    store: TwoLegStore
    bm25: BM25

    def over(self, sparse: Path) -> Dense:
        """The dense retriever, with the vectors of the BM25 index in ``sparse`` beside its own."""
        return self.dense.storing_in(_Both(self.store, self.bm25.open(sparse)))

    def open(self, dense: Path, sparse: Path, fusion: Fusion) -> TogetherSearcher:
        """Open the store, the BM25 index, which numbers terms, and load the model."""
        self.dense.encoder.load()
        bm25 = self.bm25.open(sparse)
        bm25.query_vector("warm")
        return TogetherSearcher(self.dense.encoder, bm25, self.store.open_both(dense), fusion)


def _together(dense: Retriever, sparse: Retriever) -> _Together | None:
    if isinstance(dense, Dense) and isinstance(sparse, BM25):
        store = dense.vector_store
        if isinstance(store, TwoLegStore):
            return _Together(dense, store, sparse)
    return None


@dataclass(frozen=True, slots=True)
class _Both:
    """A store that is given sparse vectors with each shard."""

    store: TwoLegStore
    bm25: BM25Searcher

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        self.store.write(self._with_sparse(shards), folder)

    def open(self, folder: Path) -> VectorSearcher:
        return self.store.open(folder)

    def _with_sparse(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        start = 0
        for shard in shards:
            pieces = range(start, start + len(shard.doc_ids))
            sparse = tuple(Sparse(*self.bm25.document_vector(piece)) for piece in pieces)
            yield replace(shard, sparse=sparse)
            start = pieces.stop
