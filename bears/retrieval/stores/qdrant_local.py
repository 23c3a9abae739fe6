"""Qdrant without a server: its engine in this process, in a folder (qdrant-edge-py)."""

from __future__ import annotations

import errno
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.configuration import parse
from bears.errors import StoreError
from bears.formats.records import read_json, write_json
from bears.retrieval.stores.packed import pack, unpack
from bears.retrieval.stores.points import Found, Hnsw, Leg, PointsSearcher
from bears.retrieval.stores.rows import Rows, rows
from bears.retrieval.vector_store import Shard, Sparse

BATCH = 1000


class QdrantLocal:
    """An embedded Qdrant.

    Args:
        name: of the file under conf/vector_store.
        exact: every vector is compared; otherwise by a graph that misses some.
        hnsw: see `Hnsw`; read where the search is not exact.
    """

    def __init__(self, name: str, exact: bool, hnsw: Mapping[str, Any]) -> None:
        self.name = name
        settings = parse(Hnsw, dict(hnsw), "vector_store.hnsw")
        self._hnsw = None if exact else settings

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Write the shards as points, and pack their files into ``points.zip``."""
        with tempfile.TemporaryDirectory(dir=folder) as below:
            dimensions = self._write(shards, below)
            pack(Path(below), folder / "points.zip")
        write_json(folder / "store.json", {"dimensions": dimensions})

    def _write(self, shards: Iterable[Shard], below: str) -> int:
        import qdrant_edge as edge

        points, dimensions = None, 0
        for some in rows(shards):
            if points is None:
                dimensions = some.dimensions
                points = edge.EdgeShard.create(below, self._config(dimensions))
                keyword = edge.PayloadSchemaType.Keyword
                points.update(edge.UpdateOperation.create_field_index("group", keyword))
            for first in range(0, len(some), BATCH):
                batch = _points(some, first, min(first + BATCH, len(some)))
                points.update(edge.UpdateOperation.upsert_points(batch))
        assert points is not None
        points.optimize()
        points.flush()
        points.close()
        return dimensions

    def open(self, folder: Path) -> PointsSearcher:
        """Unpack the points into a temporary folder, which goes with the searcher."""
        import qdrant_edge as edge

        dimensions = read_json(folder / "store.json")["dimensions"]
        # Opening changes files, and what DVC keeps must stay as it is.
        below = tempfile.mkdtemp(prefix="bears-points-")
        try:
            unpack(folder / "points.zip", Path(below))
            points = edge.EdgeShard.load(below)
        except Exception as error:  # The engine raises nothing narrower.
            shutil.rmtree(below, ignore_errors=True)
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise StoreError(
                    f"no space left in {below} to unpack {folder / 'points.zip'}; make space, or "
                    "set TMPDIR to a folder that has some"
                ) from None
            raise StoreError(
                f"{folder / 'points.zip'} cannot be opened ({error}); index again: "
                "`dvc repro --force --single-item index`"
            ) from None
        searched = _Edge(points, self._hnsw)
        weakref.finalize(searched, shutil.rmtree, below, ignore_errors=True)
        return PointsSearcher(searched, dimensions, self._hnsw)

    open_both = open

    def _config(self, dimensions: int) -> Any:
        import qdrant_edge as edge

        graph = self._hnsw or Hnsw(m=0, ef_construct=4, ef=1, from_kb=0)
        return edge.EdgeConfig(
            vectors={
                "dense": edge.EdgeVectorParams(
                    size=dimensions,
                    distance=edge.Distance.Dot,
                    hnsw_config=edge.HnswIndexConfig(
                        graph.m, graph.ef_construct, full_scan_threshold=graph.from_kb
                    ),
                )
            },
            sparse_vectors={"sparse": edge.EdgeSparseVectorParams()},
            optimizers=edge.EdgeOptimizersConfig(indexing_threshold=max(graph.from_kb, 1)),
            # A killed run starts over, since DVC removes its folder; the log would be waste.
            wal_enabled=False,
        )


def _points(some: Rows, first: int, end: int) -> list[Any]:
    import qdrant_edge as edge

    points = []
    for i in range(first, end):
        vector: dict[str, Any] = {"dense": some.shard.vectors[i].tolist()}
        if some.shard.sparse:
            vector["sparse"] = _sparse(some.shard.sparse[i])
        points.append(edge.Point(some.start + i, vector, some.payloads[i]))
    return points


def _sparse(sparse: Sparse) -> Any:
    import qdrant_edge as edge

    return edge.SparseVector(sparse.indices.tolist(), sparse.values.tolist())


class _Edge:
    """The points of an opened folder."""

    def __init__(self, points: Any, hnsw: Hnsw | None) -> None:
        self._points, self._ef = points, hnsw.ef if hnsw else None

    def search(self, legs: Sequence[Leg], group: str) -> list[list[Found]]:
        """One batch."""
        import qdrant_edge as edge

        requests = [
            edge.QueryRequest(
                limit=leg.limit,
                query=self._query(leg),
                filter=_within(group),
                params=self._params(leg),
                with_payload=["doc_id"],
                with_vector=["dense"] if leg.exact and leg.using == "dense" else False,
            )
            for leg in legs
        ]
        answers = self._points.query_batch(edge.QueryBatchRequest(requests))
        return [[_found(point) for point in answer] for answer in answers]

    def fuse(self, legs: Sequence[Leg], constant: int, limit: int, group: str) -> list[Found]:
        """One query with a prefetch for each leg."""
        import qdrant_edge as edge

        prefetches = [
            edge.Prefetch(
                limit=leg.limit,
                query=self._query(leg),
                filter=_within(group),
                params=self._params(leg),
            )
            for leg in legs
        ]
        # The stubs of 0.9.0 forget that Rrf is a Fusion.
        fusion: Any = edge.Fusion.Rrf(k=constant)
        request = edge.QueryRequest(
            limit=limit,
            prefetches=prefetches,
            query=fusion,
            with_payload=["doc_id"],
        )
        return [_found(point) for point in self._points.query(request)]

    def count(self) -> int:
        """All of the folder."""
        return int(self._points.info().points_count)

    def _query(self, leg: Leg) -> Any:
        import qdrant_edge as edge

        vector = leg.vector
        asked = _sparse(vector) if isinstance(vector, Sparse) else vector.tolist()
        return edge.Query.Nearest(asked, using=leg.using)

    def _params(self, leg: Leg) -> Any:
        import qdrant_edge as edge

        return edge.SearchParams(exact=leg.exact, hnsw_ef=None if leg.exact else self._ef)


def _within(group: str) -> Any:
    import qdrant_edge as edge

    if not group:
        return None
    return edge.Filter(must=[edge.FieldCondition("group", match=edge.MatchValue(group))])


def _found(point: Any) -> Found:
    # Every look at it makes a new list.
    vectors = point.vector
    dense = vectors["dense"] if vectors else None
    return Found(point.id, point.payload["doc_id"], point.score, dense)
