"""Vectors in Qdrant: a server, a cluster, or the client's local mode in this process."""

import hashlib
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.config.packaged import install_command
from bears.errors import ConfigurationError, RetrieverUnavailable, StoreError
from bears.files.records import write_json
from bears.retrieval.index_files import read_value
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

"""In an index of another program's collection: the groups by which its points are found."""


@dataclass(frozen=True)
class _Contents(ForbidsExtra):
    """The complete collection; ``shards``: the first chunk of each shard, to its digest."""

    collection: str
    dimensions: int
    points: int
    shards: dict[int, str]


@dataclass(frozen=True)
class Qdrant:
    """A collection of named vectors: one of its own, or one that another program filled.

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
            StoreError: the server does not answer, its collection has changed since, or a file is
                damaged.
        """
        if self.url == IN_PROCESS:
            return self._filled(folder)
        expected = read_value(folder / "store.json", _Contents)
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
        else:
            collection.set_graph()
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

        def request(place: int, limit: int) -> Any:
            return self.collection.request(vectors[place].tolist(), limit, exact, groups[place])

        rankings = []
        found = self._deep(len(vectors), k, k + k // 4 + 8, request, self._slack)
        for points, vector in zip(found, vectors, strict=True):
            scores = [point.score for point in points]
            if exact and points:
                named = [point.vector["dense"] for point in points]
                scores = cosines(np.array(named, np.float32), vector).tolist()
            rankings.append(best(*self._by_document(points, scores), k))
        return rankings

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
            window: points of each ranking that are fused; more if they are of too few documents.
            constant: see `bears.retrieval.combined.hybrid.reciprocal_ranks`.

        Raises:
            StoreError: the vectors' dimensions differ from those of the index.
        """
        check_dimensions(vectors, self._dimensions)

        def request(place: int, limit: int) -> Any:
            vector = vectors[place].tolist()
            return self.collection.fused(vector, terms[place], limit, groups[place], constant)

        rankings = []
        for points in self._deep(len(vectors), k, max(window, k), request):
            alike = defaultdict[Any, list[float]](list)
            same = [point.payload.get("same", point.id) for point in points]
            for key, point in zip(same, points, strict=True):
                alike[key].append(point.score)
            scores = [fmean(alike[key]) for key in same]
            rankings.append(best(*self._by_document(points, scores), k))
        return rankings

    def _deep(
        self,
        questions: int,
        k: int,
        limit: int,
        request: Callable[[int, int], Any],
        slack: float = -math.inf,
    ) -> Iterator[Sequence[Any]]:
        """Yield the points of each question: all that may be of the ``k`` best documents.

        Args:
            questions: how many there are.
            k: how many documents.
            limit: how many points are asked for at first.
            request: makes the request of a question, for so many points.
            slack: how far below the score of the last document a better point may be; by default,
                none is.
        """

        def enough(points: Sequence[Any], limit: int) -> bool:
            scores, _ = self._by_document(points, [point.score for point in points])
            if len(points) < limit or len(scores) < k:
                return len(points) < limit
            return bool(points[-1].score < scores[k - 1] - slack)

        for first in range(0, questions, TOGETHER):
            missing, depth = list(range(questions))[first : first + TOGETHER], limit
            found: dict[int, list[Any]] = {}
            while missing:
                requests = [request(place, depth) for place in missing]
                found.update(zip(missing, self.collection.search(requests), strict=True))
                missing = [place for place in missing if not enough(found[place], depth)]
                depth *= 2
            yield from (found[place] for place in sorted(found))

    def _by_document(
        self, points: Sequence[Any], scores: Sequence[float]
    ) -> tuple[NDArray[np.float64], list[str]]:
        """Return the score of each document, the best of its points, and the documents."""
        found: dict[str, float] = {}
        for doc_id, score in zip(map(self.collection.doc_id, points), scores, strict=True):
            found[doc_id] = max(score, found.get(doc_id, score))
        return np.array([*found.values()], np.float64), [*found]
