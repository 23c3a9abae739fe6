"""Encoding in this process."""

from collections.abc import Generator, Iterable

from bears.retrieval.dense.shards import TextShard, VectorCache
from bears.retrieval.vectors import Encoder, Shard, blocks, encoded


class Local:
    """Encodes one block of texts after the other."""

    def shards(
        self, texts: Iterable[TextShard], encoder: Encoder, kept: VectorCache
    ) -> Generator[Shard, None, None]:
        """Yield the shards with their vectors; one of them is in memory at a time."""
        loaded = False
        for shard in texts:
            rows = kept.find(shard.texts)
            missing = shard.missing(rows)
            if missing and not loaded:
                encoder.load()
                loaded = True
            for block in blocks(encoder, missing):
                some = [missing[position] for position in block]
                rows |= kept.keep(shard, some, encoded(encoder, some))
            yield shard.with_vectors(rows)
