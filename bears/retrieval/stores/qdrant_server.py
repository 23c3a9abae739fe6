"""A collection of points on a Qdrant server, in a cluster, or in this process."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, TypeVar

from pydantic import Field

from bears.config import checkout
from bears.errors import ConfigurationError, StoreError
from bears.llm.endpoint import check_variable, environment
from bears.retrieval.stores.numbered_shards import NumberedShard
from bears.retrieval.stores.vector_store import Sparse
from bears.types import Positive

T = TypeVar("T")

IN_PROCESS = ":memory:"
"""The address that qdrant-client takes for its local mode."""


@dataclass(frozen=True)
class Hnsw:
    """The graph of an approximate search (Malkov and Yashunin 2018).

    Args:
        m: edges of each node; 0: there is no graph.
        ef_construct: neighbors that are looked at while the graph is built.
        ef: neighbors that are looked at in a search; more is slower and misses less.
        from_kb: segments with fewer kilobytes of vectors get no graph and are searched whole.
    """

    m: Annotated[int, Field(ge=0)]
    ef_construct: Annotated[int, Field(ge=4)]
    ef: Positive
    from_kb: Annotated[int, Field(ge=0)]


NO_GRAPH = Hnsw(m=0, ef_construct=100, ef=1, from_kb=10_000)


def api_key(name: str) -> str | None:
    """Return what the environment variable ``name``, or ``.env`` of the user's checkout, holds.

    Raises:
        ConfigurationError: it holds nothing, or ``name`` cannot be a variable.
    """
    if not name:
        return None
    check_variable(name, "vector_store.api_key_env")
    if key := environment(checkout()).get(name, "").strip():
        return key
    raise ConfigurationError(
        f"the environment variable {name} holds no key for Qdrant. Set it, or write {name}=… into "
        ".env; for a server that wants none: vector_store.api_key_env=''"
    )


class Server:
    """A connection. Nothing is asked before the first call.

    Args:
        url: of one node, since a cluster answers through each of them; or `IN_PROCESS`.
        key_env: the environment variable of the key; empty: none is sent.
        timeout_s: for one request.
        patience_s: how long a server that does not answer is asked again.
    """

    def __init__(self, url: str, key_env: str, timeout_s: int, patience_s: float) -> None:
        from qdrant_client import QdrantClient

        self.url, self._key_env, self._patience_s = url, key_env, patience_s
        self.in_process = url == IN_PROCESS
        # It would log every request, wherever a package has set up logging.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        key = api_key(key_env)
        where: dict[str, Any] = {"location": url} if self.in_process else {"url": url}
        try:
            # The versions are not compared: only calls that 1.16 knows are made.
            self.client = QdrantClient(
                **where, api_key=key, timeout=timeout_s, check_compatibility=False
            )
        except ValueError as error:
            raise ConfigurationError(
                f"vector_store.url is {url!r} ({error}); expected an address such as "
                "http://localhost:6333"
            ) from None

    def ask(self, call: Callable[[], T], patient: bool = True) -> T:
        """Return what ``call`` returns, asking again while the server is away or overloaded.

        Raises:
            StoreError: it stays away, or refuses.
        """
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

        again = Retrying(
            retry=retry_if_exception(_passes),
            stop=stop_after_delay(self._patience_s if patient else 0),
            wait=wait_exponential(multiplier=0.1, max=3),
            reraise=True,
        )
        try:
            return again(call)
        except (ApiException, QdrantException) as error:
            raise StoreError(f"vector_store.url is {self.url}; {self._explained(error)}") from None

    def _explained(self, error: Exception) -> str:
        status = getattr(error, "status_code", None)
        said = " ".join(str(getattr(error, "source", error)).split())
        if status in (401, 403):
            sent = f"the key in {self._key_env}" if self._key_env else "no key"
            return (
                f"Qdrant there refuses {sent} ({said}). Name the environment variable of the right "
                "key in vector_store.api_key_env"
            )
        if status is None:
            problem = f"no Qdrant answers there ({said}). Start it, or correct the address"
        else:
            problem = (
                f"Qdrant there cannot do it ({said}). Expected Qdrant 1.16 or later with space on "
                "its disk; where a node of its cluster is lost, start that again"
            )
        return f"{problem}, then run the same again: the shards that it holds are not sent twice"


def _passes(error: BaseException) -> bool:
    """Return whether the same call may succeed later."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code is None or error.status_code >= 500
    return isinstance(error, ResponseHandlingException | ResourceExhaustedResponse)


class Collection:
    """The points of one index. Chunks are numbered from 0 in the order of the shards.

    Args:
        server: where they are.
        name: of the collection.
        hnsw: how the approximate search goes; none: the search is exact.
    """

    def __init__(self, server: Server, name: str, hnsw: Hnsw | None) -> None:
        from qdrant_client import models

        self.api: Any = models
        self.name, self._server, self.hnsw = name, server, hnsw
        self._client = server.client

    def count(self, shard: str = "") -> int:
        """Return how many points there are, or how many of this shard."""
        only = self.where("shard", shard)
        asked = self._server.ask(
            lambda: self._client.count(self.name, count_filter=only, exact=True)
        )
        return int(asked.count)

    def dimensions(self) -> int | None:
        """Return the dimensions of the vectors called ``dense``; None: no such collection.

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
        """Return the digest of the shard of each of these points; empty: no such point."""
        records = self._server.ask(
            lambda: self._client.retrieve(self.name, list(starts), with_payload=["shard"])
        )
        known = {record.id: (record.payload or {}).get("shard", "") for record in records}
        return [str(known.get(start, "")) for start in starts]

    def create(self, dimensions: int, shards: int, replicas: int) -> None:
        """Make the collection."""
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
        graph = self.hnsw or NO_GRAPH
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

    def upsert(self, some: NumberedShard, size: int) -> None:
        """Store a shard, ``size`` points in a request; sent twice, they are there once."""
        for first in range(0, len(some), size):
            part = slice(first, first + size)
            vectors: dict[str, Any] = {"dense": some.shard.vectors[part].tolist()}
            if some.shard.sparse:
                vectors["sparse"] = [self.sparse(one) for one in some.shard.sparse[part]]
            payloads = some.payloads[part]
            ids = range(some.start + first, some.start + first + len(payloads))
            batch = self.api.Batch(ids=list(ids), vectors=vectors, payloads=payloads)
            self._server.ask(partial(self._client.upsert, self.name, batch, wait=True))

    def indexed(self) -> bool:
        """Return whether the server has finished its graph."""
        status = self._server.ask(lambda: self._client.get_collection(self.name)).status
        return bool(status.value == "green")

    def search(self, requests: list[Any]) -> list[list[Any]]:
        """Return the points of each request, best first; all are asked at once."""
        answers = self._server.ask(lambda: self._client.query_batch_points(self.name, requests))
        return [answer.points for answer in answers]

    def parameters(self, exact: bool) -> Any:
        """Return how a request is to be searched; the local mode warns of what it ignores."""
        if self._server.in_process:
            return None
        ef = self.hnsw.ef if self.hnsw and not exact else None
        return self.api.SearchParams(exact=exact, hnsw_ef=ef)

    def sparse(self, sparse: Sparse) -> Any:
        """Return a sparse vector as a request or a point has it."""
        return self.api.SparseVector(indices=sparse.indices.tolist(), values=sparse.values.tolist())

    def where(self, field: str, value: str) -> Any:
        """Return a filter for points with this value; None where it is empty."""
        if not value:
            return None
        match = self.api.FieldCondition(key=field, match=self.api.MatchValue(value=value))
        return self.api.Filter(must=[match])
