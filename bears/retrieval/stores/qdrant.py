"""Vectors in Qdrant: a server, a cluster, or the client's local mode in this process."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from pydantic import FiniteFloat, TypeAdapter

from bears.errors import ConfigurationError, StoreError
from bears.files.records import atomic_write, read_lines, to_line, write_json
from bears.retrieval.index_files import damaged, read_value
from bears.retrieval.stores.numbered_shards import NumberedShard, checked, numbered
from bears.retrieval.stores.qdrant_search import QdrantSearcher
from bears.retrieval.stores.qdrant_server import IN_PROCESS, Collection, Hnsw, Server
from bears.retrieval.stores.vector_store import Shard, Sparse
from bears.types import Closed, Positive

POINTS = "points.jsonl"


@dataclass(frozen=True)
class _Noted(Closed):
    """What the collection held when it was complete: among it the first chunk of each shard, to
    the shard's digest."""

    collection: str
    dimensions: int
    points: int
    shards: dict[int, str]


@dataclass(frozen=True)
class _KeptShard(Closed):
    """A shard as a line of `POINTS`."""

    doc_ids: list[str]
    groups: list[str]
    texts: list[str]
    vectors: list[list[FiniteFloat]]
    sparse: list[tuple[list[int], list[FiniteFloat]]]


@dataclass(frozen=True)
class Qdrant:
    """A collection of named vectors.

    On a server, the index folder only says where the collection is and what it holds. A shard
    that the collection holds already is not sent again, so a run that was interrupted goes on, and
    an index of the same vectors is reused. In this process, the folder holds the points, and
    opening it fills a collection in memory: the files of the client's own local mode are pickles,
    which would run the code of whoever made an index.

    Args:
        url: of the server, or of any node of a cluster; ``:memory:``: in this process.
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

    Raises:
        ConfigurationError: an approximate search in this process, which has none.
    """

    url: str
    api_key_env: str
    collection: str | None
    label: str
    exact: bool
    hnsw: Hnsw
    shards: Positive
    replicas: Positive
    batch: Positive
    timeout_s: Positive
    patience_s: float

    def __post_init__(self) -> None:
        if self.url == IN_PROCESS and not self.exact:
            raise ConfigurationError(
                "vector_store.exact is false, but Qdrant without a server compares every vector; "
                "choose vector_store=qdrant, or leave it true"
            )

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Send every shard that the collection does not hold, and note what it holds then.

        Raises:
            ConfigurationError: the key or the address is missing.
            StoreError: the server does not answer or refuses, or the collection holds other
                points or vectors of other dimensions.
        """
        if self.url == IN_PROCESS:
            with atomic_write(folder / POINTS) as file:
                for shard in checked(shards):
                    file.write(to_line(asdict(_kept(shard))).encode())
            return
        server = self._server()
        collection, starts, total, dimensions = None, dict[int, str](), 0, 0
        for some in numbered(shards):
            if collection is None:
                dimensions = some.dimensions
                collection = self._prepared(server, some)
            if collection.count(some.digest) < len(some):
                collection.upsert(some, self.batch)
            starts[some.start] = some.digest
            total += len(some)
        assert collection is not None
        if (found := collection.count()) != total:
            raise _other(collection.name, server.url, f"{found} points in place of {total}")
        if not self.exact:
            _wait_for_graph(collection)
        noted = _Noted(collection.name, dimensions, total, starts)
        write_json(folder / "store.json", asdict(noted))

    def open(self, folder: Path) -> QdrantSearcher:
        """Find the collection again, or fill one in memory.

        Raises:
            StoreError: the server does not answer, its collection has changed since, or a file is
                damaged.
        """
        if self.url == IN_PROCESS:
            return self._filled(folder / POINTS)
        noted = read_value(folder / "store.json", _Noted)
        server = self._server()
        collection = self._named(server, noted.collection)
        if collection.dimensions() != noted.dimensions:
            raise _other(collection.name, server.url, "no points, or some of other dimensions")
        if (found := collection.count()) != noted.points:
            raise _other(collection.name, server.url, f"{found} of {noted.points} points")
        if list(collection.shards_at([*noted.shards])) != [*noted.shards.values()]:
            raise _other(collection.name, server.url, "other points")
        return QdrantSearcher(collection, noted.dimensions)

    def _filled(self, file: Path) -> QdrantSearcher:
        collection = self._named(self._server(), "points")
        dimensions = 0
        try:
            for some in numbered(_read(file)):
                if not dimensions:
                    dimensions = some.dimensions
                    collection.create(dimensions, self.shards, self.replicas)
                collection.upsert(some, self.batch)
        except ValueError as error:
            raise damaged(file, " ".join(f"{error!s:.200}".split())) from None
        return QdrantSearcher(collection, dimensions)

    def _server(self) -> Server:
        server = Server(self.url, self.api_key_env, self.timeout_s, self.patience_s)
        # A wrong address shows before anything is encoded.
        server.ask(server.client.get_collections, patient=False)
        return server

    def _named(self, server: Server, name: str) -> Collection:
        return Collection(server, name, None if self.exact else self.hnsw)

    def _prepared(self, server: Server, first: NumberedShard) -> Collection:
        """The collection, made where it is not there, and refused where it is another one's."""
        collection = self._named(server, self.collection or self._derived(first))
        there = collection.dimensions()
        if there is None:
            collection.create(first.dimensions, self.shards, self.replicas)
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
        graph = None if self.exact else asdict(self.hnsw)
        parts = [first.digest, graph, self.shards, self.replicas]
        digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
        return f"bears-{self.label}-{digest}"


def _kept(shard: Shard) -> _KeptShard:
    sparse = [(one.indices.tolist(), one.values.tolist()) for one in shard.sparse]
    ids, groups, texts = map(list, (shard.doc_ids, shard.groups, shard.texts))
    return _KeptShard(ids, groups, texts, shard.vectors.tolist(), sparse)


def _read(file: Path) -> Iterator[Shard]:
    shape = TypeAdapter(_KeptShard)
    for number, line in read_lines(file):
        kept = shape.validate_python(line)
        sparse = tuple(Sparse(np.array(terms), np.array(values)) for terms, values in kept.sparse)
        ids, groups, texts = map(tuple, (kept.doc_ids, kept.groups, kept.texts))
        yield Shard(number - 1, ids, groups, texts, np.array(kept.vectors, np.float32), sparse)


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
