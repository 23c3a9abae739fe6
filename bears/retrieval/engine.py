"""What has shards of texts encoded."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Protocol

from bears.retrieval.encoder import Encoder
from bears.retrieval.shards import Batch, Kept
from bears.retrieval.vector_store import Shard


class Engine(Protocol):
    """Runs an encoder over batches: here, or on a cluster. The constructor takes settings only."""

    def shards(
        self, batches: Iterable[Batch], encoder: Encoder, kept: Kept
    ) -> Generator[Shard, None, None]:
        """The batches with their vectors, in order.

        Args:
            batches: read once, in order; may be more than memory holds.
            encoder: only its `documents` is called, once for each batch.
            kept: vectors that it holds are not computed again; new ones are put there.
        """
        ...
