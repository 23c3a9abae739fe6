"""Dense retrieval: an encoder in front of a vector store."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import length_hint
from pathlib import Path
from typing import Protocol

from bears.errors import StoreError
from bears.files.progress import Progress
from bears.retrieval.cut import Cut, write_cuts
from bears.retrieval.dense.engines.local import Local
from bears.retrieval.dense.shards import VectorCache, text_shards
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.vectors import (
    Encoder,
    Shard,
    TextShard,
    VectorSearcher,
    VectorStore,
    cut_of,
    question_vectors,
)
from bears.types import Document, Positive, Ranking


class EncodingBackend(Protocol):
    """Runs an encoder over batches: here, or on a cluster. The constructor only takes settings."""

    def shards(
        self, texts: Iterable[TextShard], encoder: Encoder, kept: VectorCache
    ) -> Generator[Shard, None, None]:
        """Yield the shards with their vectors, in order.

        Args:
            texts: read once, in order; may be more than memory holds.
            encoder: encodes the texts that ``kept`` does not have.
            kept: its vectors are not computed again; new ones are added.
        """


@dataclass(frozen=True, slots=True)
class Dense:
    """Nearest vectors by cosine.

    Args:
        encoder: texts to vectors.
        vector_store: holds the vectors.
        engine: runs the encoder.
        shard_size: chunks that are encoded and stored together. More take more memory.
    """

    encoder: Encoder
    vector_store: VectorStore
    engine: EncodingBackend = field(default_factory=Local)
    shard_size: Positive = 2_000

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Encode and store shard by shard.

        The vectors of each block are kept under ``scratch``, so that a later run of the same model
        does not compute them again, however this run ends.

        Raises:
            OSError: a disk is full; the vectors so far are kept.
            StoreError: there is no document.
            VectorError: the model's vector of a document cannot be used.
        """
        batches = text_shards(documents, self.shard_size)
        cuts: list[Cut] = []
        bar = Progress(total=length_hint(documents) or None, unit=" chunks", unit_scale=True)
        kept = VectorCache(scratch, self.encoder.identity, bar.update)
        with bar, closing(self.engine.shards(batches, self.encoder, kept)) as shards:
            self.vector_store.write(_cut(shards, cuts), folder)
        write_cuts(cuts, folder)
        kept.remove_unused()

    def open(self, folder: Path) -> "DenseSearcher":
        """Open the store and load the model."""
        self.encoder.load()
        return DenseSearcher(self.encoder, self.vector_store.open(folder))


def _cut(shards: Iterable[Shard], cuts: list[Cut]) -> Iterator[Shard]:
    for shard in shards:
        cuts.append(shard.cut)
        yield shard
    if not cuts:
        raise StoreError("there is nothing to index: the corpus has no document")


@dataclass(frozen=True, slots=True)
class DenseSearcher:
    """A store, and the model of its vectors."""

    encoder: Encoder
    store: VectorSearcher

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the ``k`` documents of highest cosine for each query."""
        with stopwatch("encode"):
            vectors = question_vectors(self.encoder, [query.text for query in queries])
        with stopwatch("search"):
            return self.store.nearest(vectors, k, [query.group for query in queries])

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:  # noqa: ARG002
        """Return what the model does not read of a question."""
        return [cut_of(self.encoder, "question", [question])]

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the same as `VectorSearcher.exactness`, for questions."""
        return self.store.exactness(question_vectors(self.encoder, texts), k)
