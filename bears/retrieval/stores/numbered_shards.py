"""Shards as points: numbered, with payloads, and a digest that shows if a store has them."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bears.errors import StoreError
from bears.retrieval.stores.vector_store import Shard


@dataclass(frozen=True, slots=True)
class NumberedShard:
    """A shard whose chunks are numbered through the whole corpus.

    Args:
        start: number of its first chunk.
        digest: of its content and its place.
        payloads: of each chunk: ``doc_id``, ``text``, ``group`` and ``shard`` (the digest).
        shard: the shard.
    """

    start: int
    digest: str
    payloads: list[dict[str, Any]]
    shard: Shard

    @property
    def dimensions(self) -> int:
        """Return the dimensions of the vectors."""
        return int(self.shard.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.payloads)


def numbered(shards: Iterable[Shard]) -> Iterator[NumberedShard]:
    """Number the chunks of ``shards``, one shard in memory at a time.

    Raises:
        StoreError: the shards differ in their dimensions, or the corpus is empty.
    """
    start = 0
    for shard in checked(shards):
        digest = _digest(shard, start)
        payloads = [
            {"doc_id": doc_id, "text": text, "group": group, "shard": digest}
            for doc_id, group, text in zip(shard.doc_ids, shard.groups, shard.texts, strict=True)
        ]
        yield NumberedShard(start, digest, payloads, shard)
        start += len(payloads)


def checked(shards: Iterable[Shard]) -> Iterator[Shard]:
    """Yield the shards and check that there are any and that all have the same dimensions.

    Raises:
        StoreError: they differ, or the corpus is empty.
    """
    dimensions = 0
    for shard in shards:
        dimensions = dimensions or shard.vectors.shape[1]
        if shard.vectors.shape != (len(shard.doc_ids), dimensions):
            raise StoreError(
                f"shard {shard.number} has vectors of shape {shard.vectors.shape}; expected "
                f"{(len(shard.doc_ids), dimensions)}, as in the shards before it. All must come "
                "from one encoder"
            )
        yield shard
    if not dimensions:
        raise StoreError("there is nothing to index: the corpus has no document")


def _digest(shard: Shard, start: int) -> str:
    """Return a digest of a shard and of the number of its first point."""
    digest = hashlib.sha256(repr((shard.vectors.shape, start)).encode())
    digest.update(np.ascontiguousarray(shard.vectors, "<f4").data)
    for column in (shard.doc_ids, shard.groups, shard.texts):
        for value in column:
            encoded = value.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(encoded) + encoded)
    return digest.hexdigest()[:32]
