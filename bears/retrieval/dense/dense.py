"""Dense retrieval: an encoder in front of a vector store."""

import errno
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from operator import length_hint
from pathlib import Path
from typing import Any, Protocol

from bears.errors import StoreError
from bears.files.progress import Progress
from bears.retrieval.cut import Cut, write_cuts
from bears.retrieval.dense.engines.local import Local
from bears.retrieval.dense.shards import TextShard, VectorCache, text_shards
from bears.retrieval.models.encoder import Encoder, cut_of, question_vectors
from bears.retrieval.retriever import Query
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.vector_store import Shard, VectorSearcher, VectorStore
from bears.types import Document, Positive, Ranking

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class EncodingBackend(Protocol):
    """Runs an encoder over batches: here, or on a cluster. The constructor takes settings only."""

    def shards(
        self, texts: Iterable[TextShard], encoder: Encoder, kept: VectorCache
    ) -> Generator[Shard, None, None]:
        """The shards with their vectors, in order.

        Args:
            texts: read once, in order; may be more than memory holds.
            encoder: runs over the texts that ``kept`` does not have.
            kept: vectors that it holds are not computed again; new ones are added.
        """


@dataclass(frozen=True, slots=True)
class Dense:
    """Nearest vectors by cosine.

    Args:
        encoder: texts to vectors.
        vector_store: where the vectors lie.
        engine: what runs the encoder.
        shard_size: chunks that are encoded and stored together. Memory grows with it.
    """

    encoder: Encoder
    vector_store: VectorStore
    engine: EncodingBackend = field(default_factory=Local)
    shard_size: Positive = 2_000

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Encode and store shard by shard.

        The vectors of each batch are kept under ``scratch``, so that no run of the same model
        computes one again, whatever ended the run before it.

        Raises:
            StoreError: a disk is full; what was encoded is kept.
            VectorError: the model's vector of a document cannot be used.
        """
        batches = text_shards(documents, self.shard_size)
        cuts: list[Cut] = []
        bar = Progress(total=length_hint(documents) or None, unit=" chunks", unit_scale=True)
        kept = VectorCache(scratch, self.encoder.identity, bar.update)
        try:
            with (
                bar,
                closing(kept),
                closing(self.engine.shards(batches, self.encoder, kept)) as shards,
            ):
                self.vector_store.write(_cut(shards, cuts), folder)
            write_cuts(cuts, folder)
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise _full(error, folder, kept) from None
        kept.remove_unused()

    def open(self, folder: Path) -> "DenseSearcher":
        """Open the store and load the model."""
        self.encoder.load()
        return DenseSearcher(self.encoder, self.vector_store.open(folder))


def _cut(shards: Iterable[Shard], cuts: list[Cut]) -> Iterator[Shard]:
    for shard in shards:
        cuts.append(shard.cut)
        yield shard


def _full(error: OSError, folder: Path, kept: VectorCache) -> StoreError:
    return StoreError(
        f"no space left for the index: {error.strerror} at {error.filename or folder}. "
        f"{kept.chunks:,} different chunks are encoded and kept in {kept.folder}. Make space, then "
        "run the same again: it goes on from there. docs/scale.md says how much is needed"
    )


@dataclass(frozen=True, slots=True)
class DenseSearcher:
    """A store and the model that its vectors came from."""

    encoder: Encoder
    store: VectorSearcher

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """For each query the ``k`` documents of highest cosine."""
        with stopwatch("encode"):
            vectors = question_vectors(self.encoder, [query.text for query in queries])
        with stopwatch("search"):
            return self.store.nearest(vectors, k, [query.group for query in queries])

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:  # noqa: ARG002
        """What the model does not read of a question."""
        return [cut_of(self.encoder, "question", [question])]

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """Whether the search finds all it should, as `VectorSearcher.exactness` says it."""
        return self.store.exactness(question_vectors(self.encoder, texts), k)
