"""Rankings of documents from searches for points in Qdrant."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from bears.retrieval.models.encoder import Vectors
from bears.retrieval.ranking import best
from bears.retrieval.stores.exact import check_dimensions, cosines, dense_slack
from bears.retrieval.stores.qdrant_server import Collection
from bears.types import Ranking

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
        self._points, self._dimensions, self._hnsw = points, dimensions, points.hnsw
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
        size = self._points.count() * self._dimensions * 4 // 1024
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
        rankings = []
        for first in range(0, len(vectors), TOGETHER):
            some = slice(first, first + TOGETHER)
            rankings += self._of_batch(vectors[some], k, groups[some], exact)
        return rankings

    def _of_batch(
        self, vectors: Vectors, k: int, groups: Sequence[str], exact: bool
    ) -> list[Ranking]:
        """Send one request, and more for questions whose last document may tie with others."""
        found: dict[int, list[Any]] = {}
        missing, limit = list(range(len(vectors))), k + k // 4 + 8
        while missing:
            requests = [
                self._points.request(vectors[i].tolist(), limit, exact, groups[i]) for i in missing
            ]
            found.update(zip(missing, self._points.search(requests), strict=True))
            missing = [i for i in missing if not _is_deep_enough(found[i], limit, k, self._slack)]
            limit *= 2
        return [_ranking(found[i], vector, k, exact) for i, vector in enumerate(vectors)]


def _is_deep_enough(points: Sequence[Any], limit: int, k: int, slack: float) -> bool:
    """Return whether ``points`` has every point that may be among the ``k`` best."""
    return len(points) < limit or points[-1].score < points[k - 1].score - slack


def _ranking(points: Sequence[Any], vector: Vectors, k: int, exact: bool) -> Ranking:
    scores = np.array([point.score for point in points], np.float64)
    if exact and points:
        stored = np.array([point.vector["dense"] for point in points], np.float32)
        scores = cosines(stored, vector)
    return best(scores, [point.payload["doc_id"] for point in points], k)
