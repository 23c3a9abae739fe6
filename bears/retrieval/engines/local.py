"""Encoding in this process."""

from __future__ import annotations

from collections.abc import Generator, Iterable

import numpy as np

from bears.retrieval.encoder import Encoder
from bears.retrieval.shards import Batch, Kept, read_vectors, write_vectors
from bears.retrieval.vector_store import Shard


class Local:
    """One batch after the other.

    Args:
        name: of the file under conf/engine.
    """

    def __init__(self, name: str = "local") -> None:
        self.name = name

    def shards(
        self, batches: Iterable[Batch], encoder: Encoder, kept: Kept
    ) -> Generator[Shard, None, None]:
        """The batches with their vectors; one of them is in memory at a time."""
        for batch in batches:
            file = kept.vectors_of(batch)
            if (vectors := read_vectors(file, len(batch.texts))) is None:
                vectors = np.asarray(encoder.documents(batch.texts), np.float32)
                write_vectors(file, vectors)
            yield batch.with_vectors(vectors)
