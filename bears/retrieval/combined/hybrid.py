"""Two retrievers as one: their rankings fused by reciprocal ranks."""

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from bears.errors import ConfigurationError
from bears.retrieval.combined.fusion import reciprocal_ranks
from bears.retrieval.combined.read_twice import ReadTwice
from bears.retrieval.cut import Cut, Limited
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.encoder import Encoder, cut_of, question_vectors
from bears.retrieval.retriever import Query, Retriever, Searcher
from bears.retrieval.sparse.bm25 import BM25, BM25Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.qdrant import Qdrant
from bears.retrieval.stores.qdrant_local import QdrantLocal
from bears.retrieval.stores.qdrant_search import QdrantSearcher
from bears.retrieval.stores.vector_store import (
    Approximate,
    Shard,
    Sparse,
    VectorSearcher,
    VectorStore,
)
from bears.types import Document, Ranking


class Hybrid:
    """Reciprocal rank fusion of two retrievers, usually a dense and a sparse one.

    Each has an index of its own. Where the dense one keeps its vectors in Qdrant and the sparse
    one is BM25, a point has the vectors of both besides, so that the store can fuse.

    Args:
        name: of the file under conf/retriever.
        dense: the first retriever.
        sparse: the second one.
        constant: what is added to a rank, which counts from 1; 60 in the paper.
        window: documents of each leg that take part, at least as many as are asked for.
        fused_by: ``us``, with our tie rule; or the ``store``, in one query: it leaves the order of
            ties open, and its window counts chunks.

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
        self._constant, self._window = constant, window
        self._by_store = fused_by == "store"
        self._together = _of_one_store(dense, sparse)
        if self._by_store and not self._together:
            raise ConfigurationError(
                "retriever.fused_by is 'store', but nothing here keeps dense vectors and those of "
                "BM25 together; choose vector_store=qdrant or qdrant-local, or fused_by=us"
            )

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Index both. The documents are read once and wait in an unnamed file for the second."""
        below = folder / "sparse"
        for path in (folder / "dense", below, scratch):
            path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=scratch) as stream:
            twice = ReadTwice(stream, documents)
            self._sparse.index(twice, below, scratch)
            dense = self._dense
            if self._together:
                one, store, bm25 = self._together
                dense = one.storing_in(_WithSparse(store, bm25.open(below)))
            dense.index(twice.again(), folder / "dense", scratch)

    def open(self, folder: Path) -> Searcher:
        """Open both."""
        if self._by_store and self._together:
            dense, store, bm25 = self._together
            dense.encoder.load()
            # The index of BM25 numbers the terms.
            searchers = bm25.open(folder / "sparse"), store.open(folder / "dense")
            return StoreFusedSearcher(dense.encoder, *searchers, self._constant, self._window)
        legs = self._dense.open(folder / "dense"), self._sparse.open(folder / "sparse")
        return FusedSearcher(legs, self._constant, self._window)


class FusedSearcher:
    """Two searchers, asked one after the other."""

    def __init__(self, legs: Sequence[Searcher], constant: int, window: int) -> None:
        self._legs, self._constant, self._window = legs, constant, window

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query the ``k`` documents of highest fused score."""
        window = max(self._window, k)
        found = [leg.search(queries, window, stopwatch) for leg in self._legs]
        with stopwatch("fuse"):
            return [
                reciprocal_ranks(rankings, k, self._constant)
                for rankings in zip(*found, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """That of every leg."""
        legs = (leg for leg in self._legs if isinstance(leg, Limited))
        return [cut for leg in legs for cut in leg.cut(question, ranking)]

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """That of the leg which may miss something; exact where none may."""
        window = max(self._window, k)
        for leg in self._legs:
            if isinstance(leg, Approximate):
                said = leg.exactness(texts, window)
                if not said["exact"]:
                    return said
        return {"exact": True}


@dataclass(frozen=True, slots=True)
class StoreFusedSearcher:
    """One store with the vectors of both legs, which fuses them in one query."""

    encoder: Encoder
    bm25: BM25Searcher
    store: QdrantSearcher
    constant: int
    window: int

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query the ``k`` documents of highest fused score."""
        with stopwatch("encode"):
            vectors = question_vectors(self.encoder, [query.text for query in queries])
            sparse = [Sparse(*self.bm25.query_vector(query.text)) for query in queries]
        # Qdrant counts ranks from 0.
        window, constant = max(self.window, k), self.constant + 1
        with stopwatch("search"):
            return [
                self.store.fused(vector, terms, window, k, constant, query.group)
                for vector, terms, query in zip(vectors, sparse, queries, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:  # noqa: ARG002
        """That of the dense leg; the sparse one reads every word."""
        return [cut_of(self.encoder, "question", [question])]

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """That of the dense leg; the sparse one is exact."""
        return self.store.exactness(question_vectors(self.encoder, texts), max(self.window, k))


def _of_one_store(
    dense: Retriever, sparse: Retriever
) -> tuple[Dense, Qdrant | QdrantLocal, BM25] | None:
    """A dense retriever, its store, and BM25, where the vectors of both can lie in that store."""
    if isinstance(dense, Dense) and isinstance(sparse, BM25):
        store = dense.vector_store
        if isinstance(store, Qdrant | QdrantLocal):
            return dense, store, sparse
    return None


@dataclass(frozen=True, slots=True)
class _WithSparse:
    """A store that is given the vectors of BM25 with each shard."""

    store: VectorStore
    bm25: BM25Searcher

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        self.store.write(self._with_sparse(shards), folder)

    def open(self, folder: Path) -> VectorSearcher:
        return self.store.open(folder)

    def _with_sparse(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        start = 0
        for shard in shards:
            chunks = range(start, start + len(shard.doc_ids))
            sparse = tuple(Sparse(*self.bm25.document_vector(chunk)) for chunk in chunks)
            yield replace(shard, sparse=sparse)
            start = chunks.stop
