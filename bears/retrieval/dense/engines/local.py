"""Encoding in this process."""

from collections.abc import Generator, Iterable

from bears.retrieval.dense.shards import VectorCache, missing, usable, with_vectors
from bears.retrieval.vectors import Encoder, Shard, TextShard, blocks, encoded


class Local:
    """Encodes one block of texts after the other."""

    def shards(
        self, texts: Iterable[TextShard], encoder: Encoder, kept: VectorCache
    ) -> Generator[Shard, None, None]:
        """Yield the shards with their vectors; one of them is in memory at a time."""
        loaded = False
        for shard in texts:
            rows = kept.find(shard.texts)
            left = missing(shard, rows)
            if left and not loaded:
                encoder.load()
                loaded = True
            for block in blocks(encoder, left):
                some = [left[position] for position in block]
                rows |= kept.keep(some, usable(shard, some, encoded(encoder, some)))
            yield with_vectors(shard, rows)
