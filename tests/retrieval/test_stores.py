"""Stores in a folder: the ranking of a full sort, files that stay as they are, clear errors."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from bears.errors import ConfigurationError, RetrieverUnavailable, StoreError
from bears.files.records import sha256_of
from bears.retrieval.stores.memory import Memory, candidates, dense_slack
from bears.retrieval.vectors import Shard, VectorSearcher, VectorStore, normalized
from tests.vectors import directions, full_sort, nearest, qdrant, shards

STORES = pytest.mark.parametrize("store", [Memory(), qdrant()], ids=["memory", "qdrant"])


def stored(store: VectorStore, made: list[Shard], folder: Path) -> VectorSearcher:
    folder.mkdir(exist_ok=True)
    store.write(iter(made), folder)
    return store.open(folder)


@STORES
def test_the_nearest_are_those_of_a_full_sort(store: VectorStore, tmp_path: Path) -> None:
    """Also where many vectors are equal."""
    vectors = directions(950)
    vectors[100:500] = vectors[0]
    made = list(shards(vectors))
    searcher = stored(store, made, tmp_path)
    for vector in (vectors[0], *directions(7, seed=1)):
        for k in (1, 5, 100, 2000):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)


@STORES
def test_scores_too_close_for_float32_are_told_apart(store: VectorStore, tmp_path: Path) -> None:
    # About the length of a rounding step apart, with the cut of k in their midst.
    noise = np.random.default_rng(2).standard_normal((400, 256)) * 1e-6
    vectors = normalized(directions(1, 256).astype(np.float64) + noise)
    made = list(shards(vectors))
    searcher = stored(store, made, tmp_path)
    for vector in directions(3, 256, seed=3):
        for k in (1, 20, 200):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)


def test_candidates_hold_all_that_may_be_among_the_best_and_little_else() -> None:
    scores = np.array([0.5, 0.9, 0.2, 0.5 - 1e-7, 0.4], np.float32)
    slack = dense_slack(4)
    assert candidates(scores, 2, slack).tolist() == [0, 1, 3]
    assert candidates(scores, 5, slack).tolist() == [0, 1, 2, 3, 4]


@STORES
def test_a_search_leaves_every_file_as_it_is(store: VectorStore, tmp_path: Path) -> None:
    stored(store, list(shards(directions(300))), tmp_path)
    files = {path: sha256_of(path) for path in sorted(tmp_path.rglob("*")) if path.is_file()}
    searcher = store.open(tmp_path)
    nearest(searcher, directions(1)[0], 10)
    del searcher
    assert files == {p: sha256_of(p) for p in sorted(tmp_path.rglob("*")) if p.is_file()}


def test_the_vectors_in_memory_are_an_ordinary_file_whatever_the_shards(tmp_path: Path) -> None:
    vectors = directions(250)
    for size in (10, 100, 1000):
        stored(Memory(), list(shards(vectors, size)), tmp_path / str(size))
        assert (np.load(tmp_path / str(size) / "vectors.npy") == vectors).all()
    assert sha256_of(tmp_path / "10/vectors.npy") == sha256_of(tmp_path / "1000/vectors.npy")


def test_writing_holds_one_shard_at_a_time(tmp_path: Path) -> None:
    def many() -> Iterator[Shard]:
        for number in range(20):
            (shard,) = shards(directions(500, 256, seed=number), 500)
            yield shard

    one = 500 * 256 * 8
    tracemalloc.start()
    Memory().write(many(), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "vectors.npy").stat().st_size > 20 * one / 2
    assert peak < 6 * one


def test_an_interrupted_run_leaves_no_file_that_looks_complete(tmp_path: Path) -> None:
    def broken() -> Iterator[Shard]:
        yield from shards(directions(100))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Memory().write(broken(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@STORES
def test_what_does_not_fit_the_vectors_is_refused(store: VectorStore, tmp_path: Path) -> None:
    (first,) = shards(directions(10, 16))
    searcher = stored(store, [first], tmp_path)
    with pytest.raises(StoreError, match="24 dimensions, the index 16; index again"):
        nearest(searcher, directions(1, 24)[0], 1)


def test_without_its_client_qdrant_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bears.retrieval.stores.qdrant.find_spec", {}.get)
    told = r"needs qdrant-client, which is not installed; `make qdrant` installs it"
    with pytest.raises(RetrieverUnavailable, match=told):
        qdrant()


def test_without_a_server_no_approximate_search_is_to_be_had() -> None:
    with pytest.raises(ConfigurationError, match="exact is false, but Qdrant without a server"):
        qdrant(exact=False)
