"""A collection of points on a Qdrant server."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from bears.errors import StoreError
from bears.retrieval.stores.points import Found, Hnsw, Leg
from bears.retrieval.stores.rows import Rows
from bears.retrieval.stores.server import Server
from bears.retrieval.vector_store import Sparse


class Collection:
    """The points of one index on a server.

    Args:
        server: where.
        name: of the collection.
        hnsw: how the approximate search goes; none: the search is exact.
    """

    def __init__(self, server: Server, name: str, hnsw: Hnsw | None) -> None:
        self.name, self._server, self._hnsw = name, server, hnsw
        self._client = server.client

    def count(self, shard: str = "") -> int:
        """How many points there are, or how many of this shard."""
        only = _where("shard", shard)
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
        from qdrant_client import models

        self._server.ask(
            lambda: self._client.create_collection(
                self.name,
                vectors_config={
                    "dense": models.VectorParams(size=dimensions, distance=models.Distance.DOT)
                },
                sparse_vectors_config={"sparse": models.SparseVectorParams()},
                shard_number=shards,
                replication_factor=replicas,
                **self._graph(),
            )
        )

    def set_graph(self) -> None:
        """Give a collection that is there the graph of the present settings."""
        self._server.ask(lambda: self._client.update_collection(self.name, **self._graph()))

    def _graph(self) -> dict[str, Any]:
        from qdrant_client import models

        # Without edges no graph is built at all.
        graph = self._hnsw or Hnsw(m=0, ef_construct=100, ef=1, from_kb=10_000)
        return {
            "hnsw_config": models.HnswConfigDiff(
                m=graph.m, ef_construct=graph.ef_construct, full_scan_threshold=graph.from_kb
            ),
            "optimizers_config": models.OptimizersConfigDiff(indexing_threshold=graph.from_kb),
        }

    def index_fields(self) -> None:
        """Index what points are found by; nothing happens where that is done."""
        from qdrant_client import models

        keyword = models.PayloadSchemaType.KEYWORD
        for field in ("shard", "group"):
            self._server.ask(
                partial(self._client.create_payload_index, self.name, field, keyword, wait=True)
            )

    def upsert(self, some: Rows, first: int, end: int) -> None:
        """Store the pieces ``first`` to ``end`` of a shard; sent twice, they are there once."""
        from qdrant_client import models

        vectors: dict[str, Any] = {"dense": some.shard.vectors[first:end].tolist()}
        if some.shard.sparse:
            vectors["sparse"] = [_sparse(sparse) for sparse in some.shard.sparse[first:end]]
        batch = models.Batch(
            ids=list(range(some.start + first, some.start + end)),
            vectors=vectors,
            payloads=some.payloads[first:end],
        )
        self._server.ask(lambda: self._client.upsert(self.name, batch, wait=True))

    def indexed(self) -> bool:
        """Whether the server has finished its graph."""
        status = self._server.ask(lambda: self._client.get_collection(self.name)).status
        return status.value == "green"

    def search(self, legs: Sequence[Leg], group: str) -> list[list[Found]]:
        """One batch request."""
        from qdrant_client import models

        requests = [
            models.QueryRequest(
                query=_query(leg),
                using=leg.using,
                limit=leg.limit,
                filter=_where("group", group),
                params=self._params(leg),
                with_payload=["doc_id"],
                with_vector=["dense"] if leg.exact and leg.using == "dense" else False,
            )
            for leg in legs
        ]
        answers = self._server.ask(lambda: self._client.query_batch_points(self.name, requests))
        return [[_found(point) for point in answer.points] for answer in answers]

    def fuse(self, legs: Sequence[Leg], constant: int, limit: int, group: str) -> list[Found]:
        """One query with a prefetch for each leg."""
        from qdrant_client import models

        prefetches = [
            models.Prefetch(
                query=_query(leg),
                using=leg.using,
                limit=leg.limit,
                filter=_where("group", group),
                params=self._params(leg),
            )
            for leg in legs
        ]
        answer = self._server.ask(
            lambda: self._client.query_points(
                self.name,
                prefetch=prefetches,
                query=models.RrfQuery(rrf=models.Rrf(k=constant)),
                limit=limit,
                with_payload=["doc_id"],
            )
        )
        return [_found(point) for point in answer.points]

    def _params(self, leg: Leg) -> Any:
        from qdrant_client import models

        ef = self._hnsw.ef if self._hnsw and not leg.exact else None
        return models.SearchParams(exact=leg.exact, hnsw_ef=ef)


def _where(field: str, value: str) -> Any:
    from qdrant_client import models

    if not value:
        return None
    match = models.FieldCondition(key=field, match=models.MatchValue(value=value))
    return models.Filter(must=[match])


def _sparse(sparse: Sparse) -> Any:
    from qdrant_client import models

    return models.SparseVector(indices=sparse.indices.tolist(), values=sparse.values.tolist())


def _query(leg: Leg) -> Any:
    return _sparse(leg.vector) if isinstance(leg.vector, Sparse) else leg.vector.tolist()


def _found(point: Any) -> Found:
    vector = point.vector["dense"] if point.vector else None
    return Found(point.id, point.payload["doc_id"], point.score, vector)
