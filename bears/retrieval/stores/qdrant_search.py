"""Search over points that carry a dense and a sparse vector, whoever keeps them."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from bears.retrieval.models.encoder import Vectors
from bears.retrieval.ranking import best
from bears.retrieval.stores.exact import check_dimensions, cosines, dense_slack
from bears.retrieval.stores.qdrant_server import Collection
from bears.retrieval.stores.vector_store import Sparse
from bears.types import Ranking

TOGETHER = 16
"""Questions of one request: an exact answer brings the vectors of all that it found."""


class QdrantSearcher:
    """Rankings of documents out of searches for points.

    Where the search is exact, the order is that of scores in float64, so that every store gives
    the same ranking; otherwise it is that of the scores which the store gives.

    Args:
        points: what is searched.
        dimensions: of the dense vectors.
    """

    def __init__(self, points: Collection, dimensions: int) -> None:
        self._points, self._dimensions, self._hnsw = points, dimensions, points.hnsw
        self._slack = dense_slack(dimensions)

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """For each vector the ``k`` documents of highest cosine.

        Raises:
            StoreError: the vectors have other dimensions than the index.
        """
        return self._nearest(vectors, k, groups, exact=self._hnsw is None)

    def fused(
        self, vector: Vectors, sparse: Sparse, window: int, k: int, constant: int, group: str = ""
    ) -> Ranking:
        """The best ``k`` documents as the store itself fuses its legs.

        Args:
            vector: shape (dimensions,), length 1.
            sparse: of the same question.
            window: how many chunks of each leg take part.
            k: how many documents; the best chunk of each counts.
            constant: the first chunk of a leg counts 1 / ``constant``, the next one
                1 / (``constant`` + 1), and so on.
            group: only documents of this group; empty: any.
        """
        check_dimensions(vector[None], self._dimensions)
        api, exact = self._points.api, self._hnsw is None
        legs = [self._leg("dense", vector.tolist(), window, exact, group)]
        # Nothing is like a question of which the index knows no term.
        if len(sparse.indices):
            legs.append(self._leg("sparse", self._points.sparse(sparse), window, exact, group))
        request = api.QueryRequest(
            prefetch=[api.Prefetch(**leg) for leg in legs],
            query=api.RrfQuery(rrf=api.Rrf(k=constant)),
            # Every chunk that took part, since several of them may be of one document.
            limit=window * len(legs),
            with_payload=["doc_id"],
        )
        [found] = self._points.search([request])
        return _ranking(found, [point.score for point in found], k)

    def exactness(self, vectors: Vectors, k: int) -> dict[str, Any]:
        """The recall against the exact search, where this one is not."""
        if self._hnsw is None:
            return {"exact": True}
        anywhere, shares = [""] * len(vectors), []
        exactly = self._nearest(vectors, k, anywhere, exact=True)
        roughly = self._nearest(vectors, k, anywhere, exact=False)
        for all_of_them, some in zip(exactly, roughly, strict=True):
            wanted, found = {hit.doc_id for hit in all_of_them}, {hit.doc_id for hit in some}
            shares.append(len(wanted & found) / len(wanted) if wanted else 1.0)
        said: dict[str, Any] = {"exact": False}
        size = self._points.count() * self._dimensions * 4 // 1024
        if self._hnsw.m == 0:
            said["graph"] = "none: m is 0"
        elif size < self._hnsw.from_kb:
            said["graph"] = f"none: {size} KB of vectors, from_kb is {self._hnsw.from_kb}"
        return {
            **said,
            "recall": round(float(np.mean(shares)), 6),
            "k": k,
            "questions": len(shares),
            "m": self._hnsw.m,
            "ef_construct": self._hnsw.ef_construct,
            "ef": self._hnsw.ef,
        }

    def _nearest(
        self, vectors: Vectors, k: int, groups: Sequence[str], exact: bool
    ) -> list[Ranking]:
        check_dimensions(vectors, self._dimensions)
        rankings = []
        for first in range(0, len(vectors), TOGETHER):
            some = slice(first, first + TOGETHER)
            rankings += self._asked_together(vectors[some], k, groups[some], exact)
        return rankings

    def _asked_together(
        self, vectors: Vectors, k: int, groups: Sequence[str], exact: bool
    ) -> list[Ranking]:
        """One request, and further ones for questions whose last document may tie with more."""
        found: dict[int, list[Any]] = {}
        missing, limit = list(range(len(vectors))), k + k // 4 + 8
        while missing:
            requests = [
                self._points.api.QueryRequest(
                    **self._leg("dense", vectors[i].tolist(), limit, exact, groups[i]),
                    with_payload=["doc_id"],
                    with_vector=["dense"] if exact else False,
                )
                for i in missing
            ]
            found.update(zip(missing, self._points.search(requests), strict=True))
            missing = [i for i in missing if not _reaches(found[i], limit, k, self._slack)]
            limit *= 2
        return [_by_cosine(found[i], vector, k, exact) for i, vector in enumerate(vectors)]

    def _leg(self, using: str, vector: Any, limit: int, exact: bool, group: str) -> dict[str, Any]:
        """The arguments of a request, or of a part of one, by one vector."""
        return {
            "query": vector,
            "using": using,
            "limit": limit,
            "filter": self._points.where("group", group),
            "params": self._points.parameters(exact),
        }


def _reaches(found: Sequence[Any], limit: int, k: int, slack: float) -> bool:
    """Whether every point is there that may be a chunk of one of the ``k`` best documents."""
    if len(found) < limit:
        return True
    seen = set()
    for point in found:
        seen.add(point.payload["doc_id"])
        if len(seen) == k:
            return bool(found[-1].score < point.score - slack)
    return False


def _by_cosine(found: Sequence[Any], vector: Vectors, k: int, exact: bool) -> Ranking:
    if not exact or not found:
        return _ranking(found, [point.score for point in found], k)
    stored = np.array([point.vector["dense"] for point in found], np.float32)
    return _ranking(found, cosines(stored, vector), k)


def _ranking(found: Sequence[Any], scores: Any, k: int) -> Ranking:
    doc_ids = [point.payload["doc_id"] for point in found]
    return best(np.asarray(scores, np.float64), doc_ids, k)
