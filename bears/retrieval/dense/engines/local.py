"""Encoding in this process."""

from collections.abc import Generator, Iterable

from bears.retrieval.dense.shards import ShardCache, TextShard
from bears.retrieval.models.encoder import Encoder, encoded
from bears.retrieval.stores.vector_store import Shard


class Local:
    """One batch after the other."""

    def shards(
        self, batches: Iterable[TextShard], encoder: Encoder, kept: ShardCache
    ) -> Generator[Shard, None, None]:
        """The batches with their vectors; one of them is in memory at a time."""
        for batch in batches:
            yield kept.find(batch) or kept.keep(batch, *encoded(encoder, batch.texts))
