"""Two retrievers as one: their rankings fused by reciprocal ranks."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal

from bears.errors import ConfigurationError
from bears.files.records import to_line
from bears.retrieval.combined.fusion import reciprocal_ranks
from bears.retrieval.cut import Cut, Limited
from bears.retrieval.dense.dense import Dense, DenseSearcher
from bears.retrieval.models.encoder import question_vectors
from bears.retrieval.retriever import Query, Retriever, Searcher
from bears.retrieval.sparse.bm25 import BM25, BM25Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.qdrant import Qdrant
from bears.retrieval.stores.qdrant_search import QdrantSearcher
from bears.retrieval.stores.vector_store import (
    Approximate,
    Shard,
    Sparse,
    VectorSearcher,
    VectorStore,
)
from bears.types import Document, Positive, Ranking


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Reciprocal rank fusion of two retrievers, usually a dense and a sparse one.

    Each has an index of its own. Where the dense one keeps its vectors in Qdrant and the sparse
    one is BM25, a point has the vectors of both besides, so that the store can fuse.

    Args:
        dense: the first retriever.
        sparse: the second one.
        constant: what is added to a rank, which counts from 1; 60 in the paper.
        window: documents of each leg that take part, at least as many as are asked for.
        fused_by: ``us``, with our tie rule; or the ``store``, in one query: it leaves the order of
            ties open, and its window counts chunks.

    Raises:
        ConfigurationError: there is no store that could fuse.
    """

    dense: Retriever
    sparse: Retriever
    constant: Positive
    window: Positive
    fused_by: Literal["us", "store"]

    def __post_init__(self) -> None:
        if self.fused_by == "store" and not _of_one_store(self.dense, self.sparse):
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
            self.sparse.index(_written(documents, stream), below, scratch)
            dense = self.dense
            if together := _of_one_store(dense, self.sparse):
                one, store, bm25 = together
                dense = replace(one, vector_store=_WithSparse(store, bm25.open(below)))
            stream.seek(0)
            again = (Document(**json.loads(line)) for line in stream)
            dense.index(again, folder / "dense", scratch)

    def open(self, folder: Path) -> Searcher:
        """Open both."""
        together = _of_one_store(self.dense, self.sparse)
        if self.fused_by == "store" and together:
            dense, store, bm25 = together
            dense.encoder.load()
            # The index of BM25 numbers the terms.
            searchers = store.open(folder / "dense"), bm25.open(folder / "sparse")
            return StoreFusedSearcher(dense.encoder, *searchers, self.constant, self.window)
        legs = self.dense.open(folder / "dense"), self.sparse.open(folder / "sparse")
        return FusedSearcher(legs, self.constant, self.window)


@dataclass(frozen=True, slots=True)
class FusedSearcher:
    """Two searchers, asked one after the other."""

    legs: Sequence[Searcher]
    constant: int
    window: int

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query the ``k`` documents of highest fused score."""
        window = max(self.window, k)
        found = [leg.search(queries, window, stopwatch) for leg in self.legs]
        with stopwatch("fuse"):
            return [
                reciprocal_ranks(rankings, k, self.constant)
                for rankings in zip(*found, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """That of every leg."""
        legs = (leg for leg in self.legs if isinstance(leg, Limited))
        return [cut for leg in legs for cut in leg.cut(question, ranking)]

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """That of the leg which may miss something; exact where none may."""
        window = max(self.window, k)
        for leg in self.legs:
            if isinstance(leg, Approximate):
                said = leg.exactness(texts, window)
                if not said["exact"]:
                    return said
        return {"exact": True}


@dataclass(frozen=True, slots=True)
class StoreFusedSearcher(DenseSearcher):
    """One store with the vectors of both legs, which fuses them in one query.

    What is said of cut texts and exactness is that of the dense leg: BM25 reads every word, and
    finds all it should.
    """

    store: QdrantSearcher
    bm25: BM25Searcher
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

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """Of the window."""
        return DenseSearcher.exactness(self, texts, max(self.window, k))


def _written(documents: Iterable[Document], stream: IO[bytes]) -> Iterator[Document]:
    for document in documents:
        stream.write(to_line(asdict(document)).encode("utf-8", "surrogatepass"))
        yield document


def _of_one_store(dense: Retriever, sparse: Retriever) -> tuple[Dense, Qdrant, BM25] | None:
    """A dense retriever, its store, and BM25, where the vectors of both can lie in that store."""
    if isinstance(dense, Dense) and isinstance(sparse, BM25):
        store = dense.vector_store
        if isinstance(store, Qdrant):
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
