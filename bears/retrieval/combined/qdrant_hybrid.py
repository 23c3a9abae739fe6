"""Dense vectors and BM25's terms in one collection of Qdrant, which fuses the two rankings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bears.errors import ConfigurationError
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.cut import Cut
from bears.retrieval.dense.dense import Dense, DenseSearcher
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.bm25 import BM25, BM25Searcher
from bears.retrieval.stores.qdrant import Qdrant, QdrantSearcher
from bears.retrieval.vectors import Shard, question_vectors
from bears.types import Document, Positive, Ranking


@dataclass(frozen=True, slots=True)
class QdrantHybrid:
    """A collection with dense and sparse vectors, whose rankings Qdrant fuses.

    The sparse vector of a chunk has BM25's saturated frequencies, and that of a question the idf,
    so that their product is BM25's score, however the collection is spread.

    Args:
        dense: a dense retriever with a `Qdrant` store.
        sparse: makes the sparse vectors.
        constant: see `Hybrid`.
        window: how many chunks of each ranking take part; at least as many as are wanted.

    Raises:
        ConfigurationError: the vectors are in another store, or another program's.
    """

    dense: Dense
    sparse: BM25
    constant: Positive
    window: Positive

    def __post_init__(self) -> None:
        store = getattr(self.dense, "vector_store", self.dense)
        if not (isinstance(store, Qdrant) and isinstance(self.sparse, BM25)):
            raise ConfigurationError(
                f"retriever=qdrant-hybrid has {type(store).__name__} and "
                f"{type(self.sparse).__name__}; expected a dense retriever in Qdrant, and BM25. "
                "Add vector_store=qdrant-local, or vector_store=qdrant for a server"
            )

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Index the terms, and store them with the vectors.

        Raises as `Hybrid.index` and `Dense.index` do.
        """
        both = Hybrid(self._with_terms(folder), self.sparse, self.constant, self.window)
        both.index(documents, folder, scratch)

    def open(self, folder: Path) -> "QdrantHybridSearcher":
        """Open the collection, and the index that has the numbers of the terms."""
        bm25 = self.sparse.open(folder / "sparse")
        dense = self._with_terms(folder).open(folder / "dense")
        assert isinstance(dense.store, QdrantSearcher)
        return QdrantHybridSearcher(dense, dense.store, bm25, self.constant, self.window)

    def _with_terms(self, folder: Path) -> Dense:
        """Return the dense retriever, whose store also gets the terms that were indexed."""

        def complete(shards: Iterable[Shard]) -> Iterator[Shard]:
            bm25, start = self.sparse.open(folder / "sparse"), 0
            for shard in shards:
                end = start + len(shard.doc_ids)
                yield replace(shard, terms=bm25.terms_held(range(start, end)))
                start = end

        assert isinstance(self.dense.vector_store, Qdrant)
        store = replace(self.dense.vector_store, complete=complete)
        return replace(self.dense, vector_store=store)


@dataclass(frozen=True, slots=True)
class QdrantHybridSearcher:
    """A collection with dense and sparse vectors, and what encodes questions.

    Args:
        dense: the model, and the collection by its dense vectors alone.
        store: the collection.
        bm25: knows the terms.
        constant, window: see `QdrantHybrid`.
    """

    dense: DenseSearcher
    store: QdrantSearcher
    bm25: BM25Searcher
    constant: int
    window: int

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the ``k`` documents of highest fused score for each query."""
        texts = [query.text for query in queries]
        with stopwatch("encode"):
            vectors = question_vectors(self.dense.encoder, texts)
            terms = [*map(self.bm25.terms_asked, texts)]
        groups = [query.group for query in queries]
        with stopwatch("search"):
            return self.store.fused(vectors, terms, k, groups, self.window, self.constant)

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """Return what the model does not read of a question."""
        return self.dense.cut(question, ranking)

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the exactness of the dense search; the other is always exact."""
        return self.dense.exactness(texts, max(self.window, k))
