"""Shards of vectors for tests of stores, and the correct ranking by a full sort."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from bears.retrieval.ranking import rounded_scores
from bears.retrieval.stores.qdrant import Qdrant
from bears.retrieval.stores.qdrant_server import IN_PROCESS, Hnsw
from bears.retrieval.vectors import Shard, Vectors, VectorSearcher, normalized
from bears.types import Hit, Ranking


def qdrant(url: str = IN_PROCESS, **settings: Any) -> Qdrant:
    """A store with a small graph and small requests."""
    defaults: dict[str, Any] = {
        "api_key_env": "",
        "label": "test",
        "exact": True,
        "hnsw": Hnsw(m=4, ef_construct=16, ef=4, from_kb=10),
        "shards": 1,
        "replicas": 1,
        "batch": 50,
        "timeout_s": 20,
        "patience_s": 2,
    }
    return Qdrant(url, **{**defaults, **settings})


def directions(number: int, dimensions: int = 16, seed: int = 0) -> Vectors:
    """Random directions, shape (number, dimensions)."""
    return normalized(np.random.default_rng(seed).standard_normal((number, dimensions)))


def shards(vectors: Vectors, size: int = 100) -> Iterator[Shard]:
    """Yield shards with ten documents per group: d0 … in g0 …"""
    for number, start in enumerate(range(0, len(vectors), size)):
        places = range(start, min(start + size, len(vectors)))
        yield Shard(
            number,
            tuple(f"d{place}" for place in places),
            tuple(f"g{place // 10}" for place in places),
            tuple(f"text {place}" for place in places),
            vectors[places.start : places.stop],
        )


def full_sort(made: Sequence[Shard], vector: Vectors, k: int, group: str = "") -> Ranking:
    """Every document, by its score in float64."""
    scored: list[tuple[float, str]] = []
    for shard in made:
        scores = rounded_scores(shard.vectors.astype(np.float64) @ vector.astype(np.float64))
        for doc_id, of, score in zip(shard.doc_ids, shard.groups, scores.tolist(), strict=True):
            if group in ("", of):
                scored.append((score, doc_id))
    return tuple(Hit(doc_id, score) for score, doc_id in sorted(scored, reverse=True)[:k])


def nearest(searcher: VectorSearcher, vector: Vectors, k: int, group: str = "") -> Ranking:
    """Return the ranking of one question."""
    [ranking] = searcher.nearest(vector[None], k, [group])
    return ranking
