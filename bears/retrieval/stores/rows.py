"""Shards as points: numbered, with payloads and a digest that tells whether a store has them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bears.errors import StoreError
from bears.retrieval.vector_store import Shard


@dataclass(frozen=True, slots=True)
class Rows:
    """A shard whose pieces are numbered through the whole corpus.

    Args:
        start: number of its first piece.
        digest: of everything in it and of its place.
        payloads: of each piece: ``doc_id``, ``text``, ``group``, ``chunk`` (its number within
            its document, from 0) and ``shard`` (the digest).
        shard: the shard.
    """

    start: int
    digest: str
    payloads: list[dict[str, Any]]
    shard: Shard

    @property
    def dimensions(self) -> int:
        """Of the dense vectors."""
        return int(self.shard.vectors.shape[1])

    def __len__(self) -> int:
        return len(self.payloads)


def rows(shards: Iterable[Shard]) -> Iterator[Rows]:
    """Number the pieces of ``shards``, one shard in memory at a time.

    Raises:
        StoreError: the shards differ in their dimensions, or there are none.
    """
    start, chunk, last, dimensions = 0, -1, None, None
    for shard in shards:
        dimensions = dimensions or shard.vectors.shape[1]
        check_shape(shard, dimensions)
        digest = _digest(shard, start, last, chunk)
        payloads = []
        for doc_id, group, text in zip(shard.doc_ids, shard.groups, shard.texts, strict=True):
            chunk, last = (chunk + 1 if doc_id == last else 0), doc_id
            payloads.append(
                {"doc_id": doc_id, "text": text, "group": group, "chunk": chunk, "shard": digest}
            )
        yield Rows(start, digest, payloads, shard)
        start += len(payloads)
    if not start:
        raise nothing()


def check_shape(shard: Shard, dimensions: int) -> None:
    """Raise StoreError where a shard has other dimensions than those before it."""
    if shard.vectors.shape != (len(shard.doc_ids), dimensions):
        raise StoreError(
            f"shard {shard.number} has vectors of shape {shard.vectors.shape}; expected "
            f"{(len(shard.doc_ids), dimensions)}, as those before it. One encoder makes them all"
        )


def nothing() -> StoreError:
    """Said of a corpus without documents."""
    return StoreError("there is nothing to index: the corpus has no document")


def _digest(shard: Shard, *before: object) -> str:
    """Of a shard and of what its points' numbers depend on besides."""
    digest = hashlib.sha256(repr((shard.vectors.shape, before)).encode())
    digest.update(np.ascontiguousarray(shard.vectors, "<f4").data)
    for column in (shard.doc_ids, shard.groups, shard.texts):
        for value in column:
            encoded = value.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(encoded) + encoded)
    for sparse in shard.sparse:
        digest.update(np.asarray(sparse.indices, "<i8").tobytes() + b";")
        digest.update(np.asarray(sparse.values, "<f4").tobytes() + b";")
    return digest.hexdigest()[:32]
