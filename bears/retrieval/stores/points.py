"""Search over points that carry a dense and a sparse vector, whoever keeps them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict

from bears.configuration import STRICT
from bears.errors import ConfigurationError, StoreError
from bears.retrieval.encoder import Vectors
from bears.retrieval.retriever import best
from bears.retrieval.stores.exact import cosines, dense_slack, sparse_slack
from bears.retrieval.vector_store import Sparse, SparseScores
from bears.types import Ranking


@dataclass(frozen=True)
class Hnsw:
    """The graph of an approximate search (Malkov and Yashunin 2018).

    Args:
        m: edges of each node; 0: there is no graph.
        ef_construct: neighbours that are looked at while the graph is built.
        ef: neighbours that are looked at in a search; more is slower and misses less.
        from_kb: segments with fewer kilobytes of vectors get no graph and are searched whole.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    m: int
    ef_construct: int
    ef: int
    from_kb: int

    def __post_init__(self) -> None:
        least = {"m": 0, "ef_construct": 4, "ef": 1, "from_kb": 0}
        for key, number in least.items():
            if (found := getattr(self, key)) < number:
                raise ConfigurationError(
                    f"vector_store.hnsw.{key} is {found}; expected at least {number}"
                )


@dataclass(frozen=True, slots=True)
class Leg:
    """One search.

    Args:
        using: the name of the vectors that are searched.
        vector: shape (dimensions,) for ``dense``.
        limit: how many points.
        exact: without the graph; the found points of a dense leg then bring their vectors.
    """

    using: Literal["dense", "sparse"]
    vector: Vectors | Sparse
    limit: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A point. ``vector`` is there where the leg is exact and dense."""

    piece: int
    doc_id: str
    score: float
    vector: Any = None


class Points(Protocol):
    """What keeps the points. Pieces are numbered from 0 in the order of the shards."""

    def search(self, legs: Sequence[Leg], group: str) -> list[list[Found]]:
        """For each leg its best points, best first, from one request."""
        ...

    def fuse(self, legs: Sequence[Leg], constant: int, limit: int, group: str) -> list[Found]:
        """The best points by reciprocal ranks, as the store itself computes them."""
        ...

    def count(self) -> int:
        """How many points there are."""
        ...


class PointsSearcher:
    """Rankings of documents out of searches for points.

    Where the search is exact, the order is that of scores in float64, so that every store gives
    the same ranking; otherwise it is that of the scores which the store gives.

    Args:
        points: what is searched.
        dimensions: of the dense vectors.
        hnsw: how the approximate search goes; none: the search is exact.
    """

    def __init__(self, points: Points, dimensions: int, hnsw: Hnsw | None) -> None:
        self._points, self._dimensions, self._hnsw = points, dimensions, hnsw
        self._slack = dense_slack(dimensions)

    def nearest(self, vector: Vectors, k: int, group: str = "") -> Ranking:
        """The ``k`` documents of highest cosine. Raises StoreError for other dimensions."""
        self._check(vector)
        return self._dense(vector, k, group, exact=self._hnsw is None)

    def legs(
        self, vector: Vectors, sparse: Sparse, scores: SparseScores, k: int, group: str = ""
    ) -> tuple[Ranking, Ranking]:
        """The best ``k`` documents of each leg, from one request unless ties ask for another."""
        self._check(vector)
        exact = self._hnsw is None
        terms = len(sparse.indices)
        slacks: list[_Slack] = [lambda _: self._slack, lambda score: sparse_slack(terms, score)]
        legs = [Leg("dense", vector, _first(k), exact), Leg("sparse", sparse, _first(k), exact)]
        if not terms:
            del legs[1], slacks[1]
        dense, *others = self._whole(legs, slacks, k, group)
        found = others[0] if others else []
        pieces = np.array([hit.piece for hit in found], np.int64)
        by_terms = best(scores(pieces), [hit.doc_id for hit in found], k) if found else ()
        return _by_cosine(dense, vector, k), by_terms

    def fused(
        self, vector: Vectors, sparse: Sparse, window: int, k: int, constant: int, group: str = ""
    ) -> Ranking:
        """As the store fuses; the best piece of a document counts."""
        self._check(vector)
        exact = self._hnsw is None
        legs = [Leg("dense", vector, window, exact), Leg("sparse", sparse, window, exact)]
        if not len(sparse.indices):
            legs.pop()
        # Every piece that took part, since several of them may be of one document.
        found = self._points.fuse(legs, constant, window * len(legs), group)
        return best(np.array([hit.score for hit in found]), [hit.doc_id for hit in found], k)

    def exactness(self, vectors: Vectors, k: int) -> dict[str, Any]:
        """The recall against the exact search, where this one is not."""
        if self._hnsw is None:
            return {"exact": True}
        shares = []
        for vector in vectors:
            wanted = {hit.doc_id for hit in self._dense(vector, k, "", exact=True)}
            found = {hit.doc_id for hit in self._dense(vector, k, "", exact=False)}
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

    def _dense(self, vector: Vectors, k: int, group: str, exact: bool) -> Ranking:
        leg = Leg("dense", vector, _first(k), exact)
        (found,) = self._whole([leg], [lambda _: self._slack], k, group)
        return _by_cosine(found, vector, k)

    def _whole(
        self, legs: Sequence[Leg], slacks: Sequence[_Slack], k: int, group: str
    ) -> list[list[Found]]:
        """Each leg deep enough for ``k`` documents and for all that may tie with the last one."""
        found: dict[int, list[Found]] = {}
        asked = dict(enumerate(legs))
        while asked:
            answers = self._points.search(list(asked.values()), group)
            found.update(zip(asked, answers, strict=True))
            asked = {
                i: Leg(leg.using, leg.vector, 2 * leg.limit, leg.exact)
                for i, leg in asked.items()
                if not _reaches(found[i], leg.limit, k, slacks[i])
            }
        return [found[i] for i in range(len(legs))]

    def _check(self, vector: Vectors) -> None:
        if len(vector) != self._dimensions:
            raise StoreError(
                f"the question has {len(vector)} dimensions, the index {self._dimensions}; "
                "index again with the encoder that is asked: `dvc repro index`"
            )


_Slack = Callable[[float], float]


def _first(k: int) -> int:
    return k + k // 4 + 8


def _reaches(found: Sequence[Found], limit: int, k: int, slack: _Slack) -> bool:
    """Whether every point is there that may be a piece of one of the ``k`` best documents."""
    if len(found) < limit:
        return True
    seen = set()
    for hit in found:
        seen.add(hit.doc_id)
        if len(seen) == k:
            return found[-1].score < hit.score - slack(hit.score)
    return False


def _by_cosine(found: Sequence[Found], vector: Vectors, k: int) -> Ranking:
    if not found:
        return ()
    scores: NDArray[np.float64] = np.array([hit.score for hit in found], np.float64)
    if found[0].vector is not None:
        scores = cosines(np.array([hit.vector for hit in found], np.float32), vector)
    return best(scores, [hit.doc_id for hit in found], k)
