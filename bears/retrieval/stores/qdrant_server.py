"""A connection to Qdrant and one of its collections: on a server, in a cluster, or in process."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import Field

from bears.config import checkout
from bears.config.secrets import check_address
from bears.errors import StoreError
from bears.llm.models import check_variable, value_of
from bears.retrieval.vectors import NumberedShard, Terms
from bears.types import Positive

T = TypeVar("T")

FETCHED = ["doc_id", "same"]
"""The keys of the payload that come with a point."""
IN_PROCESS = ":memory:"
"""The address that qdrant-client takes for its local mode."""


@dataclass(frozen=True)
class Hnsw:
    """The graph of an approximate search (Malkov and Yashunin 2018).

    Args:
        m: edges of each node; 0: build no graph.
        ef_construct: neighbors that are looked at while the graph is built.
        ef: neighbors that are looked at in a search; more is slower and misses less.
        from_kb: segments with fewer kilobytes of vectors get no graph and are searched whole.
    """

    m: Annotated[int, Field(ge=0)]
    ef_construct: Annotated[int, Field(ge=4)]
    ef: Positive
    from_kb: Annotated[int, Field(ge=0)]


class Server:
    """A connection; nothing is sent before the first call.

    Args:
        url: of one node, since a cluster answers through each of them; or `IN_PROCESS`.
        key_env: the environment variable of the key; empty: send none.
        timeout_s: for one request.
        patience_s: how long to retry when the server does not answer.
    """

    def __init__(self, url: str, key_env: str, timeout_s: int, patience_s: float) -> None:
        from qdrant_client import QdrantClient

        self.url, self._key_env, self._patience_s = url, key_env, patience_s
        # It would log every request if a package has set up logging.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        where = "vector_store.api_key_env"
        check_variable(key_env, where)
        key = value_of(key_env, where, checkout()) or None
        if url != IN_PROCESS:
            check_address(url, "vector_store.url")
        # The versions are not compared: only calls that 1.16 knows are made.
        self.client = QdrantClient(
            url,
            api_key=key,
            timeout=timeout_s,
            check_compatibility=False,
        )

    def ask(self, call: Callable[..., T], *args: Any, patient: bool = True, **options: Any) -> T:
        """Return the result of ``call``; retry while the server is away or overloaded.

        Raises:
            StoreError: it stays away, or refuses.
        """
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

        retrying = Retrying(
            retry=retry_if_exception(_is_temporary),
            stop=stop_after_delay(self._patience_s if patient else 0),
            wait=wait_exponential(multiplier=0.1, max=3),
            reraise=True,
        )
        try:
            return retrying(call, *args, **options)
        except (ApiException, QdrantException) as error:
            reason = " ".join(str(getattr(error, "source", error)).split())
            raise StoreError(
                f"vector_store.url is {self.url}; Qdrant there fails ({reason}). Expected 1.16 or "
                "later with free disk space and all nodes of its cluster, whose key is in the "
                f"variable of vector_store.api_key_env ({self._key_env or 'none'}). Then run the "
                "same again: the shards that it holds are not sent twice"
            ) from None


def _is_temporary(error: BaseException) -> bool:
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
        hnsw: the graph of the approximate search; None: the search is exact.
    """

    def __init__(self, server: Server, name: str, hnsw: Hnsw | None) -> None:
        from qdrant_client import models

        self.name, self.hnsw = name, hnsw
        self._api: Any = models
        self._server, self._client, self._ask = server, server.client, server.ask

    def count(self, shard: str = "") -> int:
        """Return how many points there are, or how many of this shard."""
        only = self._where("shard", shard)
        return int(self._ask(self._client.count, self.name, count_filter=only, exact=True).count)

    def dimensions(self) -> int | None:
        """Return the dimensions of the vectors called ``dense``; None without a collection.

        They are 0 if the collection has other vectors.
        """
        if not self._ask(self._client.collection_exists, self.name):
            return None
        vectors = self._ask(self._client.get_collection, self.name).config.params.vectors
        named = vectors if isinstance(vectors, dict) else {}
        return int(named["dense"].size) if "dense" in named else 0

    def shards_at(self, starts: Sequence[int]) -> list[str]:
        """Return the digest of the shard of each of these points; empty for absent points."""
        records = self._ask(self._client.retrieve, self.name, [*starts], with_payload=["shard"])
        known = {record.id: (record.payload or {}).get("shard", "") for record in records}
        return [str(known.get(start, "")) for start in starts]

    def create(self, first: NumberedShard, shards: int, replicas: int) -> None:
        """Create the collection for shards like the first."""
        vector = self._api.VectorParams(
            size=first.shard.vectors.shape[1], distance=self._api.Distance.DOT
        )
        self._ask(
            self._client.create_collection,
            self.name,
            vectors_config={"dense": vector},
            sparse_vectors_config={"sparse": self._api.SparseVectorParams()}
            if first.shard.terms
            else None,
            shard_number=shards,
            replication_factor=replicas,
            **self._graph(),
        )

    def _graph(self) -> dict[str, Any]:
        graph = self.hnsw or Hnsw(m=0, ef_construct=100, ef=1, from_kb=10_000)
        return {
            "hnsw_config": self._api.HnswConfigDiff(
                m=graph.m, ef_construct=graph.ef_construct, full_scan_threshold=graph.from_kb
            ),
            "optimizers_config": self._api.OptimizersConfigDiff(indexing_threshold=graph.from_kb),
        }

    def index_fields(self) -> None:
        """Index the fields by which points are found, if they are not indexed yet."""
        keyword = self._api.PayloadSchemaType.KEYWORD
        for field in ("shard", "group"):
            self._ask(self._client.create_payload_index, self.name, field, keyword, wait=True)

    def upsert(self, numbered: NumberedShard, size: int) -> None:
        """Store a shard, ``size`` points per request; sending it twice stores it once."""
        for first in range(0, len(numbered.payloads), size):
            vectors: dict[str, Any] = {
                "dense": numbered.shard.vectors[first : first + size].tolist()
            }
            if terms := numbered.shard.terms[first : first + size]:
                vectors["sparse"] = [*map(self.sparse_vector, terms)]
            payloads = numbered.payloads[first : first + size]
            ids = range(numbered.start + first, numbered.start + first + len(payloads))
            batch = self._api.Batch(ids=list(ids), vectors=vectors, payloads=payloads)
            self._ask(self._client.upsert, self.name, batch, wait=True)

    def indexed(self) -> bool:
        """Return whether the server has finished its graph."""
        status = self._ask(self._client.get_collection, self.name).status
        return bool(status.value == "green")

    def request(self, vector: list[float], limit: int, exact: bool, group: str) -> Any:
        """Return a request for the ``limit`` nearest points of ``group``; empty: any group.

        The points of an exact search come with their vectors.
        """
        return self._api.QueryRequest(
            query=vector,
            using="dense",
            limit=limit,
            filter=self._where("group", group),
            params=self._params(exact),
            with_payload=FETCHED,
            with_vector=["dense"] if exact else False,
        )

    def fused(
        self, vector: list[float], terms: Terms, limit: int, group: str, constant: int
    ) -> Any:
        """Return a request for two fused rankings of at most ``limit`` points of ``group`` each.

        Args:
            vector: of the question.
            terms: of the question; without any, only its vector counts.
            limit: points of each ranking.
            group: see `request`.
            constant: of RRF, for ranks from 1.
        """
        options = {"limit": limit, "filter": self._where("group", group)}
        params = self._params(exact=self.hnsw is None)
        legs = [self._api.Prefetch(query=vector, using="dense", params=params, **options)]
        if terms.numbers:
            sparse = self.sparse_vector(terms)
            legs.append(self._api.Prefetch(query=sparse, using="sparse", **options))
        # Qdrant's ranks start at 0.
        fusion = self._api.RrfQuery(rrf=self._api.Rrf(k=constant + 1))
        return self._api.QueryRequest(
            prefetch=legs, query=fusion, limit=2 * limit, with_payload=FETCHED
        )

    def _params(self, exact: bool) -> Any:
        # The local mode warns of parameters that it ignores.
        if self._server.url == IN_PROCESS:
            return None
        ef = self.hnsw.ef if self.hnsw and not exact else None
        return self._api.SearchParams(exact=exact, hnsw_ef=ef)

    def search(self, requests: list[Any]) -> list[list[Any]]:
        """Return the points of each request, best first; all are sent together."""
        answers = self._ask(self._client.query_batch_points, self.name, requests)
        return [answer.points for answer in answers]

    def sparse_vector(self, terms: Terms) -> Any:
        """Return the sparse vector of a question or a chunk."""
        return self._api.SparseVector(indices=terms.numbers, values=terms.weights)

    def _where(self, field: str, value: str) -> Any:
        """Return a filter for points with this value; None if it is empty."""
        if not value:
            return None
        match = self._api.FieldCondition(key=field, match=self._api.MatchValue(value=value))
        return self._api.Filter(must=[match])
