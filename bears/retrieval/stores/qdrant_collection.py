"""A collection of points on a Qdrant server."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from bears.errors import StoreError
from bears.retrieval.stores.hnsw import Hnsw
from bears.retrieval.stores.numbered_shards import NumberedShard
from bears.retrieval.stores.qdrant_search import sparse_vector, where
from bears.retrieval.stores.qdrant_server import Server


class Collection:
    """The points of one index on a server.

    Args:
        server: where.
        name: of the collection.
        hnsw: how the approximate search goes; none: the search is exact.
    """

    def __init__(self, server: Server, name: str, hnsw: Hnsw | None) -> None:
        from qdrant_client import models

        self.api: Any = models
        self.name, self._server, self._hnsw = name, server, hnsw
        self._client = server.client

    def count(self, shard: str = "") -> int:
        """How many points there are, or how many of this shard."""
        only = where(self.api, "shard", shard)
        asked = self._server.ask(
            lambda: self._client.count(self.name, count_filter=only, exact=True)
        )
        return int(asked.count)

    def dimensions(self) -> int | None:
        """Of the vectors called ``dense``; None where there is no such collection.

        Raises:
            StoreError: the collection has other vectors.
        """
        ask = self._server.ask
        if not ask(lambda: self._client.collection_exists(self.name)):
            return None
        parameters = ask(lambda: self._client.get_collection(self.name)).config.params
        named = parameters.vectors if isinstance(parameters.vectors, dict) else {}
        if "dense" not in named or "sparse" not in (parameters.sparse_vectors or {}):
            raise StoreError(
                f"the collection {self.name} at {self._server.url} has the vectors "
                f"{sorted(named) or 'without a name'} and "
                f"{sorted(parameters.sparse_vectors or {}) or 'no sparse ones'}; expected 'dense' "
                "and 'sparse'. Name another one in vector_store.collection"
            )
        return int(named["dense"].size)

    def shards_at(self, starts: Sequence[int]) -> list[str]:
        """The digest of the shard that each of these points belongs to; empty: no such point."""
        records = self._server.ask(
            lambda: self._client.retrieve(self.name, list(starts), with_payload=["shard"])
        )
        known = {record.id: (record.payload or {}).get("shard", "") for record in records}
        return [str(known.get(start, "")) for start in starts]

    def create(self, dimensions: int, shards: int, replicas: int) -> None:
        """Make it, with an index of the fields that are searched by."""
        self._server.ask(
            lambda: self._client.create_collection(
                self.name,
                vectors_config={
                    "dense": self.api.VectorParams(size=dimensions, distance=self.api.Distance.DOT)
                },
                sparse_vectors_config={"sparse": self.api.SparseVectorParams()},
                shard_number=shards,
                replication_factor=replicas,
                **self._graph(),
            )
        )

    def set_graph(self) -> None:
        """Give a collection that is there the graph of the present settings."""
        self._server.ask(lambda: self._client.update_collection(self.name, **self._graph()))

    def _graph(self) -> dict[str, Any]:
        # Without edges no graph is built at all.
        graph = self._hnsw or Hnsw(m=0, ef_construct=100, ef=1, from_kb=10_000)
        return {
            "hnsw_config": self.api.HnswConfigDiff(
                m=graph.m, ef_construct=graph.ef_construct, full_scan_threshold=graph.from_kb
            ),
            "optimizers_config": self.api.OptimizersConfigDiff(indexing_threshold=graph.from_kb),
        }

    def index_fields(self) -> None:
        """Index what points are found by; nothing happens where that is done."""
        keyword = self.api.PayloadSchemaType.KEYWORD
        for field in ("shard", "group"):
            self._server.ask(
                partial(self._client.create_payload_index, self.name, field, keyword, wait=True)
            )

    def upsert(self, some: NumberedShard, first: int, end: int) -> None:
        """Store the chunks ``first`` to ``end`` of a shard; sent twice, they are there once."""
        vectors: dict[str, Any] = {"dense": some.shard.vectors[first:end].tolist()}
        if some.shard.sparse:
            vectors["sparse"] = [
                sparse_vector(self.api, sparse) for sparse in some.shard.sparse[first:end]
            ]
        batch = self.api.Batch(
            ids=list(range(some.start + first, some.start + end)),
            vectors=vectors,
            payloads=some.payloads[first:end],
        )
        self._server.ask(lambda: self._client.upsert(self.name, batch, wait=True))

    def indexed(self) -> bool:
        """Whether the server has finished its graph."""
        status = self._server.ask(lambda: self._client.get_collection(self.name)).status
        return status.value == "green"

    def nearest(self, vector: Any, using: str) -> dict[str, Any]:
        """As `QdrantPoints.nearest`."""
        return {"query": vector, "using": using}

    def fused(self, legs: list[Any], constant: int) -> dict[str, Any]:
        """As `QdrantPoints.fused`."""
        rrf = self.api.RrfQuery(rrf=self.api.Rrf(k=constant))
        return {"prefetch": legs, "query": rrf}

    def search(self, requests: list[Any]) -> list[list[Any]]:
        """One batch request."""
        answers = self._server.ask(lambda: self._client.query_batch_points(self.name, requests))
        return [answer.points for answer in answers]
