"""Vectors in a Qdrant server or cluster."""

import hashlib
import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bears.config import parse
from bears.errors import StoreError
from bears.files.records import write_json
from bears.retrieval.index_files import read_value
from bears.retrieval.stores.hnsw import Hnsw
from bears.retrieval.stores.numbered_shards import NumberedShard, numbered
from bears.retrieval.stores.qdrant_collection import Collection
from bears.retrieval.stores.qdrant_search import QdrantSearcher
from bears.retrieval.stores.qdrant_server import Server
from bears.retrieval.stores.vector_store import Shard
from bears.types import Closed, Positive


@dataclass(frozen=True)
class _Noted(Closed):
    """What the collection held when it was complete: among it the first chunk of each shard, to
    the shard's digest."""

    collection: str
    dimensions: int
    points: int
    shards: dict[int, str]


class Qdrant:
    """A collection of named vectors. The index folder only says where it is and what it holds.

    A shard that the collection holds already is not sent again, so a run that was interrupted
    goes on, and an index of the same vectors is reused.

    Args:
        url: of the server, or of any node of a cluster.
        api_key_env: the environment variable that holds the key; empty: none is wanted.
        collection: its name; none: ``label`` and a digest of the first shard and of the settings.
        label: what a collection without a name of its own is called after.
        exact: every vector is compared; otherwise by a graph that misses some.
        hnsw: see `Hnsw`; read where the search is not exact.
        shards: parts of a new collection, for a cluster to spread over its nodes.
        replicas: nodes that hold each part of a new collection.
        batch: points of a request.
        timeout_s: for one request.
        patience_s: how long a server that has stopped to answer is asked again.
    """

    def __init__(
        self,
        url: str,
        api_key_env: str,
        collection: str | None,
        label: str,
        exact: bool,
        hnsw: Mapping[str, Any],
        shards: Positive,
        replicas: Positive,
        batch: Positive,
        timeout_s: Positive,
        patience_s: float,
    ) -> None:
        settings = parse(Hnsw, dict(hnsw), "vector_store.hnsw")
        self._hnsw = None if exact else settings
        self._collection, self._label = collection, label
        self._shards, self._replicas, self._batch = shards, replicas, batch
        self._address = (url, api_key_env, timeout_s, patience_s)

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Send every shard that the collection does not hold, and note what it holds then.

        Raises:
            ConfigurationError: the key or the address is missing.
            StoreError: the server does not answer or refuses, or the collection holds other
                points or vectors of other dimensions.
        """
        server = Server(*self._address)
        # A wrong address shows before anything is encoded.
        server.ask(server.client.get_collections, patient=False)
        collection, starts, digests, total, dimensions = None, [], [], 0, 0
        for some in numbered(shards):
            if collection is None:
                dimensions = some.dimensions
                collection = self._prepared(server, some)
            if collection.count(some.digest) < len(some):
                for first in range(0, len(some), self._batch):
                    collection.upsert(some, first, min(first + self._batch, len(some)))
            starts.append(some.start)
            digests.append(some.digest)
            total += len(some)
        assert collection is not None
        if (found := collection.count()) != total:
            raise _other(collection.name, server.url, f"{found} points in place of {total}")
        if self._hnsw:
            _wait_for_graph(collection)
        noted = _Noted(collection.name, dimensions, total, dict(zip(starts, digests, strict=True)))
        write_json(folder / "store.json", asdict(noted))

    def open(self, folder: Path) -> QdrantSearcher:
        """Find the collection again.

        Raises:
            StoreError: the server does not answer, or its collection has changed since.
        """
        noted = read_value(folder / "store.json", _Noted)
        server = Server(*self._address)
        server.ask(server.client.get_collections, patient=False)
        collection = Collection(server, noted.collection, self._hnsw)
        if collection.dimensions() != noted.dimensions:
            raise _other(collection.name, server.url, "no points, or some of other dimensions")
        if (found := collection.count()) != noted.points:
            raise _other(collection.name, server.url, f"{found} of {noted.points} points")
        if list(collection.shards_at([*noted.shards])) != [*noted.shards.values()]:
            raise _other(collection.name, server.url, "other points")
        return QdrantSearcher(collection, noted.dimensions, self._hnsw)

    def _prepared(self, server: Server, first: NumberedShard) -> Collection:
        """The collection, made where it is not there, and refused where it is another one's."""
        collection = Collection(server, self._collection or self._derived(first), self._hnsw)
        there = collection.dimensions()
        if there is None:
            collection.create(first.dimensions, self._shards, self._replicas)
        elif there != first.dimensions:
            raise StoreError(
                f"the collection {collection.name} at {server.url} has vectors of {there} "
                f"dimensions, the encoder makes {first.dimensions}. Name another one in "
                "vector_store.collection, or leave that empty"
            )
        elif collection.count() and collection.shards_at([0]) != [first.digest]:
            raise _other(collection.name, server.url, "other points")
        else:
            collection.set_graph()
        collection.index_fields()
        return collection

    def _derived(self, first: NumberedShard) -> str:
        graph = asdict(self._hnsw) if self._hnsw else None
        parts = [first.digest, graph, self._shards, self._replicas]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
        return f"bears-{self._label}-{digest}"


def _wait_for_graph(collection: Collection) -> None:
    """Until the server has been idle for a while, since it starts on its own some time later."""
    idle = 0
    while idle < 4:
        idle = idle + 1 if collection.indexed() else 0
        time.sleep(0.2)


def _other(name: str, url: str, what: str) -> StoreError:
    return StoreError(
        f"the collection {name} at {url} holds {what}, which is not this index. Index again "
        "(`dvc repro --force --single-item index`), under another name in "
        "vector_store.collection if what is there is still wanted"
    )
