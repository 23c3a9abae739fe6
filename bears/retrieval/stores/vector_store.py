"""Vector stores: their protocols, and the shards and numbered points that they keep."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bears.errors import StoreError
from bears.retrieval.cut import Cut
from bears.retrieval.models.encoder import CALLED, Vectors
from bears.types import Ranking

UNCUT = Cut(CALLED["document"], 0)


@dataclass(frozen=True, slots=True)
class Shard:
    """Chunks of documents with their vectors: the unit of storing and of resuming.

    Args:
        number: from 0, without gaps; the same chunks have the same number in every run.
        doc_ids: of each chunk; see `bears.retrieval.chunking.chunks`.
        groups: `Document.group` of each chunk.
        texts: of each chunk.
        vectors: shape (chunks, dimensions), length 1 each.
        cut: how much of the texts is not in their vectors.
    """

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    cut: Cut = UNCUT


class VectorSearcher(Protocol):
    """An open store."""

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """Return for each vector the ``k`` chunks of highest cosine.

        Args:
            vectors: of the questions, shape (questions, dimensions), length 1 each.
            k: how many chunks.
            groups: for each vector, the only group to search; empty: all chunks.
        """

    def exactness(self, vectors: Vectors, k: int) -> Mapping[str, object]:
        """Return how exact the search is, as plain JSON values.

        Args:
            vectors: of the questions, shape (questions, dimensions).
            k: how many documents per question.

        Returns:
            ``{"exact": True}``, or ``exact`` False with ``recall``: the mean share of the exact
            ``k`` documents that the approximate search finds.
        """


class VectorStore(Protocol):
    """Makes a store of vectors and opens it again. The constructor only takes settings."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Store every shard; ``folder`` holds the store, or what is needed to find it again.

        A store that survives a killed run (a server) may skip what it already has.

        Raises:
            StoreError: the store cannot be reached, or cannot take the shards.
        """

    def open(self, folder: Path) -> VectorSearcher:
        """Open what `write` wrote.

        Raises:
            StoreError: the store cannot be reached, or its content has changed.
        """


@runtime_checkable
class Approximate(Protocol):
    """A searcher that may miss documents and measures how many."""

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the same as `VectorSearcher.exactness`, for questions."""


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
