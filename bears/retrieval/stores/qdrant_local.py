"""Qdrant without a server: its engine in this process, in a folder (qdrant-edge-py)."""

import errno
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bears.config import parse
from bears.errors import StoreError
from bears.files.records import write_json
from bears.retrieval.index_files import read_value
from bears.retrieval.stores.hnsw import Hnsw
from bears.retrieval.stores.numbered_shards import NumberedShard, numbered
from bears.retrieval.stores.packed_folder import pack, unpack
from bears.retrieval.stores.qdrant_search import QdrantSearcher, sparse_vector
from bears.retrieval.stores.vector_store import Shard

BATCH = 1000


class QdrantLocal:
    """An embedded Qdrant.

    Args:
        exact: every vector is compared; otherwise by a graph that misses some.
        hnsw: see `Hnsw`; read where the search is not exact.
    """

    def __init__(self, exact: bool, hnsw: Mapping[str, Any]) -> None:
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
        for some in numbered(shards):
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

    def open(self, folder: Path) -> QdrantSearcher:
        """Unpack the points into a temporary folder, which goes with the searcher."""
        import qdrant_edge as edge

        dimensions = read_value(folder / "store.json", dict[str, int]).get("dimensions", 0)
        # Opening changes files, and what DVC keeps must stay as it is.
        below = Path(tempfile.mkdtemp(prefix="bears-points-"))
        try:
            unpack(folder / "points.zip", below)
            points = edge.EdgeShard.load(str(below))
        except BaseException as error:  # The engine raises nothing narrower than Exception.
            shutil.rmtree(below, ignore_errors=True)
            if not isinstance(error, Exception):
                raise
            if isinstance(error, OSError) and error.errno == errno.ENOSPC:
                raise StoreError(
                    f"no space left in {below} to unpack {folder / 'points.zip'}; make space, or "
                    "set TMPDIR to a folder that has some"
                ) from None
            raise StoreError(
                f"{folder / 'points.zip'} cannot be opened ({error}); index again: "
                "`dvc repro --force --single-item index`"
            ) from None
        searched = _Engine(points)
        weakref.finalize(searched, shutil.rmtree, below, ignore_errors=True)
        return QdrantSearcher(searched, dimensions, self._hnsw)

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


def _points(some: NumberedShard, first: int, end: int) -> list[Any]:
    import qdrant_edge as edge

    points = []
    for i in range(first, end):
        vector: dict[str, Any] = {"dense": some.shard.vectors[i].tolist()}
        if some.shard.sparse:
            vector["sparse"] = sparse_vector(edge, some.shard.sparse[i])
        points.append(edge.Point(some.start + i, vector, some.payloads[i]))
    return points


class _Engine:
    """The points of an opened folder."""

    def __init__(self, points: Any) -> None:
        import qdrant_edge as edge

        self.api: Any = edge
        self._points = points

    def count(self) -> int:
        """All of the folder."""
        return int(self._points.info().points_count)

    def nearest(self, vector: Any, using: str) -> dict[str, Any]:
        """As `QdrantPoints.nearest`."""
        return {"query": self.api.Query.Nearest(vector, using=using)}

    def fused(self, legs: list[Any], constant: int) -> dict[str, Any]:
        """As `QdrantPoints.fused`."""
        return {"prefetches": legs, "query": self.api.Fusion.Rrf(k=constant)}

    def search(self, requests: list[Any]) -> list[list[Any]]:
        """One batch."""
        answers: list[list[Any]] = self._points.query_batch(self.api.QueryBatchRequest(requests))
        return answers
