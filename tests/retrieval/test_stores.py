"""Stores in a folder: the ranking of a full sort, files that stay as they are, clear errors."""

from __future__ import annotations

import gc
import os
import tempfile
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml

from bears.config import build
from bears.errors import StoreError
from bears.files.digest import sha256_of
from bears.retrieval.models.encoder import Vectors, normalised
from bears.retrieval.stores.exact import candidates, dense_slack
from bears.retrieval.stores.memory import Memory
from bears.retrieval.stores.packed_folder import pack, unpack
from bears.retrieval.stores.qdrant_local import QdrantLocal
from bears.retrieval.stores.vector_store import Shard, VectorSearcher, VectorStore
from tests.vectors import directions, full_sort, nearest, shards
from tests.workspace import ROOT

GRAPH = {"m": 4, "ef_construct": 16, "ef": 4, "from_kb": 10}


def local(exact: bool = True, **hnsw: int) -> QdrantLocal:
    return QdrantLocal(exact, {**GRAPH, **hnsw})


STORES = pytest.mark.parametrize("store", [Memory(), local()], ids=["memory", "local"])


def stored(store: VectorStore, made: list[Shard], folder: Path) -> VectorSearcher:
    folder.mkdir(exist_ok=True)
    store.write(iter(made), folder)
    return store.open(folder)


@STORES
@pytest.mark.parametrize("chunks", [1, 3])
def test_the_nearest_are_those_of_a_full_sort(
    store: VectorStore, chunks: int, tmp_path: Path
) -> None:
    made = list(shards(directions(950), chunks=chunks))
    searcher = stored(store, made, tmp_path)
    for vector in directions(20, seed=1):
        for k in (1, 10, 100, 2000):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)


@STORES
def test_a_group_is_searched_alone(store: VectorStore, tmp_path: Path) -> None:
    made = list(shards(directions(300)))
    searcher = stored(store, made, tmp_path)
    for vector in directions(5, seed=1):
        assert nearest(searcher, vector, 7, "g12") == full_sort(made, vector, 7, "g12")
    assert len(nearest(searcher, directions(1)[0], 50, "g3")) == 10
    assert nearest(searcher, directions(1)[0], 50, "nowhere") == ()


@STORES
def test_equal_vectors_tie_and_the_greatest_ids_are_kept(
    store: VectorStore, tmp_path: Path
) -> None:
    vectors = directions(600)
    vectors[100:500] = vectors[0]
    made = list(shards(vectors))
    found = nearest(stored(store, made, tmp_path), vectors[0], 5)
    assert found == full_sort(made, vectors[0], 5)
    assert [hit.doc_id for hit in found] == ["d499", "d498", "d497", "d496", "d495"]


@STORES
def test_scores_too_close_for_float32_are_told_apart(store: VectorStore, tmp_path: Path) -> None:
    # About the length of a rounding step apart, with the cut of k in their midst.
    noise = np.random.default_rng(2).standard_normal((400, 256)) * 1e-6
    vectors = normalised(directions(1, 256).astype(np.float64) + noise)
    made = list(shards(vectors))
    searcher = stored(store, made, tmp_path)
    for vector in directions(3, 256, seed=3):
        for k in (1, 20, 200):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)


def test_candidates_hold_all_that_may_be_among_the_best_and_little_else() -> None:
    scores = np.array([0.5, 0.9, 0.2, 0.5 - 1e-7, 0.4], np.float32)
    slack = dense_slack(4)
    assert candidates(scores, ["a", "b", "c", "d", "e"], 2, slack).tolist() == [0, 1, 3]
    # The best three chunks are of one document, so more are wanted for two documents.
    assert candidates(scores, ["a", "a", "c", "a", "e"], 2, slack).tolist() == [0, 1, 3, 4]


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
        for number in range(40):
            (shard,) = shards(directions(1000, 256, seed=number), 1000)
            yield shard

    one = 1000 * 256 * 8
    tracemalloc.start()
    Memory().write(many(), tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "vectors.npy").stat().st_size > 40 * one / 2
    assert peak < 6 * one


def test_an_interrupted_run_leaves_no_file_that_looks_complete(tmp_path: Path) -> None:
    def broken() -> Iterator[Shard]:
        yield from shards(directions(100))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Memory().write(broken(), tmp_path)
    assert list(tmp_path.iterdir()) == []


@STORES
def test_vectors_of_two_encoders_are_refused(store: VectorStore, tmp_path: Path) -> None:
    (first,) = shards(directions(10, 16))
    (second,) = shards(directions(10, 24))
    with pytest.raises(StoreError, match=r"shape \(10, 24\); expected \(10, 16\)"):
        store.write([first, second], tmp_path)


@STORES
def test_an_empty_corpus_is_refused(store: VectorStore, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="the corpus has no document"):
        store.write([], tmp_path)


@STORES
def test_a_question_of_other_dimensions_is_refused(store: VectorStore, tmp_path: Path) -> None:
    searcher = stored(store, list(shards(directions(10, 16))), tmp_path)
    with pytest.raises(StoreError, match="24 dimensions, the index 16; index again"):
        nearest(searcher, directions(1, 24)[0], 1)


@STORES
def test_zeros_are_as_near_as_anything(store: VectorStore, tmp_path: Path) -> None:
    vectors: Vectors = np.zeros((3, 4), np.float32)
    found = nearest(stored(store, list(shards(vectors)), tmp_path), vectors[0], 2)
    assert [(hit.doc_id, hit.score) for hit in found] == [("d2", 0.0), ("d1", 0.0)]


@STORES
def test_an_exact_search_says_so(store: VectorStore, tmp_path: Path) -> None:
    searcher = stored(store, list(shards(directions(50))), tmp_path)
    assert searcher.exactness(directions(3), 10) == {"exact": True}


def test_an_approximate_search_tells_its_recall_against_the_exact_one(tmp_path: Path) -> None:
    made, asked = list(shards(directions(2000, 64), 500)), directions(20, 64, seed=1)
    searcher = stored(local(exact=False), made, tmp_path)
    shares = []
    for vector in asked:
        found = {hit.doc_id for hit in nearest(searcher, vector, 10)}
        shares.append(len(found & {hit.doc_id for hit in full_sort(made, vector, 10)}) / 10)
    said = searcher.exactness(asked, 10)
    assert said["recall"] == pytest.approx(np.mean(shares), abs=1e-6)
    assert 0.1 < said["recall"] < 0.99
    assert {key: said[key] for key in ("exact", "k", "questions", "ef")} == {
        "exact": False,
        "k": 10,
        "questions": 20,
        "ef": 4,
    }


def test_a_recall_without_a_graph_says_that_there_is_none(tmp_path: Path) -> None:
    made, asked = list(shards(directions(200, 64), 50)), directions(2, 64, seed=1)
    searcher = stored(local(exact=False), made, tmp_path / "graph")
    assert "graph" not in searcher.exactness(asked, 10)
    for hnsw, why in (({"from_kb": 51}, "50 KB of vectors, from_kb is 51"), ({"m": 0}, "m is 0")):
        said = stored(local(exact=False, **hnsw), made, tmp_path / why).exactness(asked, 10)
        assert (said["graph"], said["recall"]) == (f"none: {why}", 1)


def test_what_is_packed_is_small_and_goes_with_the_searcher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, unpacked = tmp_path / "index", tmp_path / "unpacked"
    unpacked.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(unpacked))
    searcher = stored(local(), list(shards(directions(100))), folder)
    assert {path.name for path in folder.iterdir()} == {"points.zip", "store.json"}
    assert (folder / "points.zip").stat().st_size < 1_000_000
    assert any(unpacked.iterdir())
    assert nearest(searcher, directions(1)[0], 1)[0].doc_id == "d0"
    del searcher
    gc.collect()
    assert not any(unpacked.iterdir())


def test_a_folder_comes_back_from_its_pack_byte_for_byte(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    (before / "below").mkdir(parents=True)
    (before / "empty").touch()
    (before / "plain@1").write_bytes(b"data" * 5000)
    with (before / "below" / "holes").open("wb") as stream:
        for place in (3_000_000, 9_000_000):
            stream.seek(place)
            stream.write(b"here")
        stream.truncate(40_000_000)
    (before / "hole").touch()
    os.truncate(before / "hole", 50_000_000)
    pack(before, tmp_path / "packed")
    unpack(tmp_path / "packed", after)
    names = ["below/holes", "empty", "hole", "plain@1"]
    assert sorted(str(p.relative_to(after)) for p in after.rglob("*") if p.is_file()) == names
    assert all((after / name).read_bytes() == (before / name).read_bytes() for name in names)
    assert (tmp_path / "packed").stat().st_size < 100_000


@pytest.mark.parametrize("name", ["../outside", "below/../../outside", "{}/outside"])
def test_a_pack_never_writes_outside_of_its_folder(name: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "points.zip", "w") as packed:
        packed.writestr(f"{name.format(tmp_path)}@0", b"data")
    with pytest.raises(zipfile.BadZipFile, match="outside@0' leads out of the folder"):
        unpack(tmp_path / "points.zip", tmp_path / "inside")
    assert not list(tmp_path.rglob("outside"))
    (tmp_path / "store.json").write_text('{"dimensions": 16}')
    with pytest.raises(StoreError, match=r"points\.zip cannot be opened .*leads out"):
        local().open(tmp_path)


@pytest.mark.parametrize(
    ("names", "kind", "said"),
    [
        (["a@1000000000000000000"], zipfile.ZIP_STORED, "larger than `index` makes them"),
        (["a@1073741825", "b@5"], zipfile.ZIP_STORED, "larger than `index` makes them"),
        ([f"{n}@200000000" for n in range(9)], zipfile.ZIP_STORED, "larger than `index` makes"),
        (["a@0"], zipfile.ZIP_DEFLATED, "a part is compressed"),
        (["a@-1"], zipfile.ZIP_STORED, "does not say where"),
        (["a@"], zipfile.ZIP_STORED, "does not say where"),
        (["a@" + "9" * 5000], zipfile.ZIP_STORED, "does not say where"),
        (["a@٣"], zipfile.ZIP_STORED, "does not say where"),
        (["a"], zipfile.ZIP_STORED, "leads out"),
        (["@0"], zipfile.ZIP_STORED, "leads out"),
    ],
)
def test_a_pack_writes_no_more_than_it_holds(
    names: list[str], kind: int, said: str, tmp_path: Path
) -> None:
    with zipfile.ZipFile(tmp_path / "points.zip", "w", kind) as packed:
        for name in names:
            packed.writestr(name, b"")
    with pytest.raises(zipfile.BadZipFile, match=said):
        unpack(tmp_path / "points.zip", tmp_path / "inside")
    assert not (tmp_path / "inside").exists()


def test_parts_that_share_their_bytes_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "points.zip", "w") as packed:
        packed.writestr("a@0", b"x" * 100_000)
        # The directory names the same bytes a hundred times.
        packed.filelist = packed.filelist * 100
    with pytest.raises(zipfile.BadZipFile, match="larger than `index` makes"):
        unpack(tmp_path / "points.zip", tmp_path / "inside")


@pytest.mark.parametrize("size", [0, 100, 20_000])
def test_a_damaged_file_says_what_to_do(size: int, tmp_path: Path) -> None:
    stored(local(), list(shards(directions(10))), tmp_path)
    os.truncate(tmp_path / "points.zip", size)
    with pytest.raises(StoreError, match=r"points\.zip cannot be opened .*dvc repro --force"):
        local().open(tmp_path)


@pytest.mark.parametrize("name", ["memory", "qdrant-local", "qdrant"])
def test_every_choice_of_the_group_can_be_built(name: str) -> None:
    text = (ROOT / "conf" / "vector_store" / f"{name}.yaml").read_text()
    settings = yaml.safe_load(text.replace("${benchmark.name}-${retriever.name}", "mini-dense"))
    assert settings["name"] == name
    build(settings, "vector_store")
