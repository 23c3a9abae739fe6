"""Vectors in Qdrant: a server, a cluster, or the client's local mode in this process."""

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from bears.config.packaged import install_command
from bears.errors import ConfigurationError, RetrieverUnavailable, StoreError
from bears.files.intake.files import read_whole
from bears.files.records import json_as, write_json
from bears.retrieval.ranking import best
from bears.retrieval.stores.memory import (
    Memory,
    check_dimensions,
    cosines,
    dense_slack,
    read_chunks,
)
from bears.retrieval.stores.qdrant_server import IN_PROCESS, Collection, Hnsw, Server
from bears.retrieval.vectors import NumberedShard, Shard, Terms, Vectors, numbered
from bears.types import ForbidsExtra, Positive, Ranking


@dataclass(frozen=True)
class _Contents(ForbidsExtra):
    """The complete collection; ``shards``: the first chunk of each shard, to its digest."""

    collection: str
    dimensions: int
    points: int
    shards: dict[int, str]


@dataclass(frozen=True)
class Qdrant:
    """A collection of named vectors, each of one chunk.

    On a server, the index folder only says where the collection is and what it holds. A shard
    that the collection already holds is not sent again, so an interrupted run goes on, and
    an index of the same vectors is reused. In this process, the folder holds the files of
    `Memory`, and opening it fills a collection in memory: the files of the client's own local mode
    are pickles, which can run code.

    Args:
        url: of the server, or of any node of a cluster; ``:memory:``: in this process.
        api_key_env: the environment variable that holds the key; empty: the server needs none.
        label: the beginning of the name of its collection; a digest of the first shard and the
            settings follows.
        exact: compare every vector; otherwise search a graph, which misses some.
        hnsw: see `Hnsw`; used if the search is not exact.
        shards: parts of a new collection, for a cluster to spread over its nodes.
        replicas: nodes that hold each part of a new collection.
        batch: points per request.
        timeout_s: for one request.
        patience_s: how long to retry when the server stops answering.
        complete: adds terms to shards; no setting.

    Raises:
        ConfigurationError: an approximate search in this process, which has none.
        RetrieverUnavailable: qdrant-client is not installed.
    """

    url: str
    api_key_env: str
    label: str
    exact: bool
    hnsw: Hnsw
    shards: Positive
    replicas: Positive
    batch: Positive
    timeout_s: Positive
    patience_s: float
    complete: Callable[[Iterable[Shard]], Iterable[Shard]] = iter

    def __post_init__(self) -> None:
        # Before anything is encoded.
        if not find_spec("qdrant_client"):
            raise RetrieverUnavailable(
                "this vector store needs qdrant-client, which is not installed; "
                f"{install_command('qdrant')} installs it"
            )
        if self.url == IN_PROCESS and not self.exact:
            raise ConfigurationError(
                "vector_store.exact is false, but Qdrant without a server compares every vector; "
                "choose vector_store=qdrant, or leave it true"
            )

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Send every shard that the collection does not hold, and record what it then holds.

        Raises:
            ConfigurationError: the key or the address is missing.
            StoreError: the server does not answer or refuses, or the collection holds other
                points or vectors of other dimensions.
        """
        if self.url == IN_PROCESS:
            Memory().write(shards, folder)
            return
        server = self._server()
        collection, starts, total, dimensions = None, dict[int, str](), 0, 0
        for shard in numbered(self.complete(shards)):
            size, dimensions = shard.shard.vectors.shape
            collection = collection or self._prepared(server, shard)
            if collection.count(shard.digest) < size:
                collection.upsert(shard, self.batch)
            starts[shard.start] = shard.digest
            total += size
        assert collection is not None
        if (points := collection.count()) != total:
            raise _unexpected(collection.name, server.url, f"{points} points in place of {total}")
        if not self.exact:
            _wait_for_graph(collection)
        contents = _Contents(collection.name, dimensions, total, starts)
        write_json(folder / "store.json", asdict(contents))

    def open(self, folder: Path) -> "QdrantSearcher":
        """Find the collection again, or fill one in memory.

        Raises:
            StoreError: the server does not answer, or its collection has changed since.
        """
        if self.url == IN_PROCESS:
            return self._filled(folder)
        path = folder / "store.json"
        expected = json_as(_Contents, read_whole(path), str(path))
        server = self._server()
        collection = self._named(server, expected.collection)
        if (
            collection.dimensions() != expected.dimensions
            or collection.count() != expected.points
            or collection.shards_at([*expected.shards]) != [*expected.shards.values()]
        ):
            raise _unexpected(collection.name, server.url, "other points, or none")
        return QdrantSearcher(collection, expected.dimensions)

    def _filled(self, folder: Path) -> "QdrantSearcher":
        vectors, doc_ids, groups = read_chunks(folder)
        collection = self._named(self._server(), "points")
        texts = ("",) * len(doc_ids)
        whole = Shard(0, tuple(doc_ids), tuple(groups), texts, vectors)
        for shard in numbered(self.complete([whole])):
            collection.create(shard, self.shards, self.replicas)
            collection.upsert(shard, self.batch)
        return QdrantSearcher(collection, vectors.shape[1])

    def _server(self) -> Server:
        server = Server(self.url, self.api_key_env, self.timeout_s, self.patience_s)
        # A wrong address shows before anything is encoded.
        server.ask(server.client.get_collections, patient=False)
        return server

    def _named(self, server: Server, name: str) -> Collection:
        return Collection(server, name, None if self.exact else self.hnsw)

    def _prepared(self, server: Server, first: NumberedShard) -> Collection:
        """Return the collection; create it if it is absent, refuse it if it holds other points."""
        graph = None if self.exact else asdict(self.hnsw)
        parts = json.dumps([first.digest, graph, self.shards, self.replicas])
        digest = hashlib.sha256(parts.encode()).hexdigest()[:12]
        collection = self._named(server, f"bears-{self.label}-{digest}")
        dimensions = collection.dimensions()
        if dimensions is None:
            collection.create(first, self.shards, self.replicas)
        elif dimensions != first.shard.vectors.shape[1] or (
            collection.count() and collection.shards_at([0]) != [first.digest]
        ):
            raise _unexpected(collection.name, server.url, "other points")
        collection.index_fields()
        return collection


def _wait_for_graph(collection: Collection) -> None:
    """Wait until the server is idle for a while; it starts to build its graph a little later."""
    idle = 0
    while idle < 4:
        idle = idle + 1 if collection.indexed() else 0
        time.sleep(0.2)


def _unexpected(name: str, url: str, contents: str) -> StoreError:
    return StoreError(
        f"the collection {name} at {url} holds {contents}, which is not this index. Index again "
        "(`dvc repro --force --single-item index`). To keep what the collection holds, choose "
        "another vector_store.label first"
    )


TOGETHER = 16
"""Questions per request: an exact answer brings the vectors of all points that it found."""


class QdrantSearcher:
    """Ranks the points of a collection.

    An exact search orders them by scores in float64, so that every store gives the same ranking;
    an approximate one orders them by the scores of the store.

    Args:
        points: the collection to search.
        dimensions: of the vectors.
    """

    def __init__(self, points: Collection, dimensions: int) -> None:
        self.collection, self._dimensions, self._hnsw = points, dimensions, points.hnsw
        self._slack = dense_slack(dimensions)

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """Return for each vector the ``k`` documents of highest cosine.

        Raises:
            StoreError: the vectors' dimensions differ from those of the index.
        """
        return self._nearest(vectors, k, groups, exact=self._hnsw is None)

    def exactness(self, vectors: Vectors, k: int) -> Mapping[str, object]:
        """Return the recall against the exact search, if this one is approximate."""
        if self._hnsw is None:
            return {"exact": True}
        anywhere, shares = [""] * len(vectors), []
        exactly = self._nearest(vectors, k, anywhere, exact=True)
        roughly = self._nearest(vectors, k, anywhere, exact=False)
        for exact, rough in zip(exactly, roughly, strict=True):
            wanted, found = {hit.doc_id for hit in exact}, {hit.doc_id for hit in rough}
            shares.append(len(wanted & found) / len(wanted) if wanted else 1.0)
        settings, graph = asdict(self._hnsw), {}
        smallest = settings.pop("from_kb")
        size = self.collection.count() * self._dimensions * 4 // 1024
        if self._hnsw.m == 0:
            graph = {"graph": "none: m is 0"}
        elif size < smallest:
            graph = {"graph": f"none: {size} KB of vectors, from_kb is {smallest}"}
        recall = round(float(np.mean(shares)), 6)
        return {
            **{"exact": False, **graph, "recall": recall, "k": k, "questions": len(shares)},
            **settings,
        }

    def _nearest(
        self, vectors: Vectors, k: int, groups: Sequence[str], exact: bool
    ) -> list[Ranking]:
        check_dimensions(vectors, self._dimensions)
        found: dict[int, Ranking] = {}
        left, limit = list(range(len(vectors))), k + k // 4 + 8
        while left:
            for first in range(0, len(left), TOGETHER):
                places = left[first : first + TOGETHER]
                requests = [
                    self.collection.request(vectors[at].tolist(), limit, exact, groups[at])
                    for at in places
                ]
                for at, points in zip(places, self.collection.search(requests), strict=True):
                    # A better point may have a score that is a rounding error lower.
                    every = len(points) < limit
                    if every or points[-1].score < points[k - 1].score - self._slack:
                        found[at] = _ranking(points, k, vectors[at] if exact else None)
            left = [place for place in left if place not in found]
            limit *= 2
        return [found[place] for place in range(len(vectors))]

    def fused(
        self,
        vectors: Vectors,
        terms: Sequence[Terms],
        k: int,
        groups: Sequence[str],
        window: int,
        constant: int,
    ) -> list[Ranking]:
        """Return for each question the ``k`` documents of highest score, fused by Qdrant.

        The order of equal scores is open in Qdrant. Points of the same content, which a ranking has
        in any order, therefore share the mean of their scores.

        Args:
            vectors: of the questions.
            terms: of each question, as BM25 numbers them.
            k: how many documents.
            groups: see `nearest`.
            window: points of each ranking that are fused, at least ``k``.
            constant: see `bears.retrieval.combined.hybrid.reciprocal_ranks`.

        Raises:
            StoreError: the vectors' dimensions differ from those of the index.
        """
        check_dimensions(vectors, self._dimensions)
        requests = [
            self.collection.fused(vector.tolist(), own, max(window, k), group, constant)
            for vector, own, group in zip(vectors, terms, groups, strict=True)
        ]
        rankings = []
        for first in range(0, len(requests), TOGETHER):
            for points in self.collection.search(requests[first : first + TOGETHER]):
                alike = defaultdict[Any, list[float]](list)
                same = [point.payload.get("same", point.id) for point in points]
                for key, point in zip(same, points, strict=True):
                    alike[key].append(point.score)
                scores = np.array([fmean(alike[key]) for key in same])
                rankings.append(best(scores, _doc_ids(points), k))
        return rankings


def _ranking(points: Sequence[Any], k: int, vector: Vectors | None) -> Ranking:
    """Rank points, by their cosines with a vector if there is one."""
    scores = np.array([point.score for point in points], np.float64)
    if vector is not None and points:
        own = np.array([point.vector["dense"] for point in points], np.float32)
        scores = cosines(own, vector)
    return best(scores, _doc_ids(points), k)


def _doc_ids(points: Sequence[Any]) -> list[str]:
    return [str(point.payload["doc_id"]) for point in points]
