"""A real Qdrant server and a cluster of three: equal to memory, killed, resumed, refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient, models

from bears.errors import ConfigurationError, StoreError
from bears.files.records import read_documents, read_json, read_questions
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.memory import Memory
from bears.retrieval.stores.qdrant_server import Hnsw
from bears.retrieval.stores.vector_store import Shard, VectorStore
from bears.types import Ranking
from tests.qdrant_server import QdrantServer, free_ports
from tests.vectors import directions, full_sort, nearest, qdrant, shards

KEY = "TEST_QDRANT_KEY"
ENCODER = WordLlama(256)


def client(url: str, key: str | None = None) -> QdrantClient:
    return QdrantClient(url=url, api_key=key, check_compatibility=False)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QdrantServer]:
    with QdrantServer(tmp_path_factory.mktemp("qdrant")) as running:
        yield running


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[QdrantServer]]:
    folder = tmp_path_factory.mktemp("cluster")
    with (
        QdrantServer(folder / "0", cluster=True) as first,
        QdrantServer(folder / "1", cluster=True, first=first) as second,
        QdrantServer(folder / "2", cluster=True, first=first) as third,
    ):
        yield [first, second, third]


def written(store: VectorStore, made: Iterable[Shard], folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    store.write(iter(made), folder)
    return folder


def versions(url: str, collection: str, number: int) -> list[int]:
    """The operation that last changed each point: one that is sent again gets a new one."""
    found = client(url).query_points(
        collection,
        query=models.SampleQuery(sample=models.Sample.RANDOM),
        limit=number,
        with_payload=False,
    )
    return [point.version for point in sorted(found.points, key=lambda point: int(point.id))]


@pytest.mark.parametrize("chunks", [1, 3])
def test_the_server_gives_the_ranking_of_a_full_sort(
    server: QdrantServer, chunks: int, tmp_path: Path
) -> None:
    vectors = directions(600, seed=chunks)
    vectors[100:300] = vectors[0]
    made = list(shards(vectors, chunks=chunks))
    searcher = qdrant(server.url).open(written(qdrant(server.url), made, tmp_path))
    for vector in (vectors[0], *directions(5, seed=9)):
        for k in (1, 10, 1000):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)
    assert nearest(searcher, vectors[0], 4, "g7") == full_sort(made, vectors[0], 4, "g7")
    assert searcher.exactness(vectors, 10) == {"exact": True}


def test_a_point_says_what_it_is_a_chunk_of(server: QdrantServer, tmp_path: Path) -> None:
    made = list(shards(directions(30, seed=20), size=4, chunks=3))
    written(qdrant(server.url, collection="payloads"), made, tmp_path)
    (point,) = client(server.url).retrieve("payloads", [17])
    assert point.payload is not None
    assert point.payload["shard"] == read_json(tmp_path / "store.json")["shards"]["16"]
    del point.payload["shard"]
    # The document's first two chunks are in the shard before.
    assert point.payload == {"doc_id": "d5", "text": "text 17", "group": "g0", "chunk": 2}


def test_the_same_vectors_are_sent_once_and_their_collection_is_used_again(
    server: QdrantServer, tmp_path: Path
) -> None:
    made = list(shards(directions(300, seed=21)))
    one, other = (written(qdrant(server.url), made, tmp_path / name) for name in "ab")
    assert (one / "store.json").read_bytes() == (other / "store.json").read_bytes()
    name = read_json(one / "store.json")["collection"]
    assert name.startswith("bears-test-")
    before = versions(server.url, name, 300)
    written(qdrant(server.url), made, one)
    assert versions(server.url, name, 300) == before
    # Other vectors, or a graph, are another collection.
    changed = written(qdrant(server.url), shards(directions(300, seed=22)), tmp_path / "c")
    graph = written(qdrant(server.url, exact=False), made, tmp_path / "d")
    names = {read_json(folder / "store.json")["collection"] for folder in (one, changed, graph)}
    assert len(names) == 3


def test_an_approximate_search_tells_its_recall(server: QdrantServer, tmp_path: Path) -> None:
    made, asked = list(shards(directions(2000, 64), 500)), directions(10, 64, seed=1)
    rough = qdrant(server.url, exact=False, batch=500)
    searcher = rough.open(written(rough, made, tmp_path))
    shares = []
    for vector in asked:
        found = {hit.doc_id for hit in nearest(searcher, vector, 10)}
        shares.append(len(found & {hit.doc_id for hit in full_sort(made, vector, 10)}) / 10)
    said = searcher.exactness(asked, 10)
    assert (said["exact"], said["ef"]) == (False, 4)
    assert said["recall"] == pytest.approx(sum(shares) / len(shares), abs=1e-6)
    assert 0.1 < said["recall"] < 0.99


def test_a_recall_without_a_graph_says_that_there_is_none(
    server: QdrantServer, tmp_path: Path
) -> None:
    made, asked = list(shards(directions(200, 64), 50)), directions(2, 64, seed=1)
    settings = {"m": 4, "ef_construct": 16, "ef": 4, "from_kb": 10}
    for changed, said in (
        ({}, None),
        ({"from_kb": 51}, "none: 50 KB of vectors, from_kb is 51"),
        ({"m": 0}, "none: m is 0"),
    ):
        store = qdrant(server.url, exact=False, hnsw=Hnsw(**{**settings, **changed}))
        found = store.open(written(store, made, tmp_path)).exactness(asked, 10)
        assert found.get("graph") == said
        assert said is None or found["recall"] == 1


def test_a_collection_of_other_dimensions_is_refused(server: QdrantServer, tmp_path: Path) -> None:
    named = qdrant(server.url, collection="sized")
    written(named, shards(directions(10, 16)), tmp_path)
    with pytest.raises(
        StoreError, match=r"sized at http.* 16 dimensions, the encoder makes 24. Choose another"
    ):
        named.write(shards(directions(10, 24)), tmp_path)


def test_a_collection_that_holds_something_else_is_never_written_to(
    server: QdrantServer, tmp_path: Path
) -> None:
    named = qdrant(server.url, collection="taken")
    made = list(shards(directions(200, seed=23)))
    written(named, made, tmp_path)
    before = versions(server.url, "taken", 200)
    with pytest.raises(StoreError, match=r"taken at http.* holds other points"):
        named.write(shards(directions(200, seed=24)), tmp_path)
    assert versions(server.url, "taken", 200) == before
    with pytest.raises(StoreError, match=r"taken at http.* holds 200 points in place of 100"):
        named.write(made[:1], tmp_path)
    theirs = models.VectorParams(size=16, distance=models.Distance.COSINE)
    client(server.url).create_collection("theirs", vectors_config=theirs)
    with pytest.raises(StoreError, match="the vectors without a name; expected"):
        qdrant(server.url, collection="theirs").write(made, tmp_path)


def test_an_index_whose_collection_has_changed_is_not_searched(
    server: QdrantServer, tmp_path: Path
) -> None:
    store = qdrant(server.url, collection="changing")
    folder = written(store, shards(directions(100, seed=25)), tmp_path)
    client(server.url).delete("changing", points_selector=[3], wait=True)
    with pytest.raises(StoreError, match=r"changing at http.* holds 99 of 100 points"):
        store.open(folder)
    client(server.url).delete_collection("changing")
    with pytest.raises(StoreError, match=r"changing at http.* holds no points"):
        store.open(folder)


def test_a_wrong_address_shows_at_once_and_before_anything_is_encoded(tmp_path: Path) -> None:
    def never() -> Iterator[Shard]:
        raise AssertionError("something was encoded")
        yield

    (port,) = free_ports(1)
    started = time.monotonic()
    with pytest.raises(StoreError, match=f"127.0.0.1:{port}; no Qdrant answers there"):
        qdrant(f"http://127.0.0.1:{port}", patience_s=60).write(never(), tmp_path)
    assert time.monotonic() - started < 10
    with pytest.raises((ConfigurationError, StoreError), match=r"vector_store\.url is "):
        qdrant("nonsense://").write(never(), tmp_path)


def test_a_key_that_is_missing_or_wrong_is_named_but_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DVC_ROOT", str(tmp_path))
    made = list(shards(directions(20)))
    with QdrantServer(tmp_path / "server", api_key="right") as server:
        guarded = qdrant(server.url, api_key_env=KEY)
        with pytest.raises(ConfigurationError, match=f"variable {KEY} holds no key"):
            guarded.write(made, tmp_path)
        with pytest.raises(StoreError, match="refuses a request without a key"):
            qdrant(server.url).write(made, tmp_path)
        monkeypatch.setenv(KEY, "wrong-one")
        with (
            pytest.warns(UserWarning, match="insecure connection"),
            pytest.raises(StoreError, match=f"refuses the key in {KEY}") as caught,
        ):
            guarded.write(made, tmp_path)
        assert "wrong-one" not in str(caught.value)
        monkeypatch.delenv(KEY)
        (tmp_path / ".env").write_text(f"{KEY}=right\n")
        with pytest.warns(UserWarning, match="insecure connection"):
            assert nearest(guarded.open(written(guarded, made, tmp_path)), directions(1)[0], 1)


def test_a_server_killed_while_it_is_written_to_is_resumed_and_holds_nothing_twice(
    tmp_path: Path,
) -> None:
    made = list(shards(directions(1000)))
    with QdrantServer(tmp_path / "server") as server:
        store = qdrant(server.url, collection="killed", batch=10, patience_s=0.5)
        watching = client(server.url)

        def kill_in_the_middle() -> None:
            while not watching.collection_exists("killed"):
                time.sleep(0.005)
            while watching.count("killed").count < 430:
                time.sleep(0.001)
            server.kill()

        killer = threading.Thread(target=kill_in_the_middle)
        killer.start()
        with pytest.raises(StoreError, match=r"no Qdrant answers .* then run the same again"):
            store.write(made, tmp_path)
        killer.join()
        assert not (tmp_path / "store.json").exists()
        server.start()
        kept = watching.count("killed").count
        assert 430 <= kept < 1000
        before = versions(server.url, "killed", kept)
        whole = kept // 100 * 100
        written(store, made, tmp_path)
        # What was there of whole shards was not sent again.
        assert versions(server.url, "killed", 1000)[:whole] == before[:whole]
        assert watching.count("killed").count == 1000
        searcher = store.open(tmp_path)
        for vector in directions(3, seed=1):
            assert nearest(searcher, vector, 20) == full_sort(made, vector, 20)


def test_a_server_killed_while_it_is_searched_is_a_clear_error_and_can_come_back(
    tmp_path: Path,
) -> None:
    made = list(shards(directions(200)))
    vector = directions(1, seed=1)[0]
    with QdrantServer(tmp_path / "server") as server:
        store = qdrant(server.url, patience_s=0.5)
        searcher = store.open(written(store, made, tmp_path))
        expected = nearest(searcher, vector, 10)
        server.kill()
        with pytest.raises(StoreError, match=f"{server.url}; no Qdrant answers there"):
            nearest(searcher, vector, 10)
        server.start()
        assert nearest(searcher, vector, 10) == expected
        # A short absence is waited for.
        patient = qdrant(server.url, patience_s=20).open(tmp_path)
        server.kill()
        back = threading.Timer(0.5, server.start)
        back.start()
        assert nearest(patient, vector, 10) == expected
        back.join()


def hybrid(store: VectorStore) -> Hybrid:
    dense = Dense(ENCODER, store, shard_size=200)
    return Hybrid(dense, BM25(0.9, 0.4, analyzer="jieba"), 60, 100)


def published(shared_data: Path) -> tuple[list[Any], list[Query]]:
    folder = shared_data / "bears-published"
    questions = read_questions(next(folder.rglob("queries.json")))
    return read_documents(next(folder.rglob("corpus.json"))), [Query(q.question) for q in questions]


def run_of(retriever: Hybrid, folder: Path, asked: list[Query]) -> list[Ranking]:
    searcher = retriever.open(folder)
    return searcher.search(asked, 100, Stopwatch())


def indexed(retriever: Hybrid, documents: list[Any], folder: Path) -> Path:
    folder.mkdir()
    retriever.index(iter(documents), folder, folder.parent / "scratch")
    return folder


def test_the_hybrid_run_of_a_server_equals_the_one_in_memory(
    server: QdrantServer, shared_data: Path, tmp_path: Path
) -> None:
    documents, asked = published(shared_data)
    local, remote = hybrid(Memory()), hybrid(qdrant(server.url))
    expected = run_of(local, indexed(local, documents, tmp_path / "local"), asked)
    folder = indexed(remote, documents, tmp_path / "remote")
    assert run_of(remote, folder, asked) == expected


@pytest.mark.slow
def test_the_hybrid_run_of_a_cluster_equals_the_local_one_also_when_a_node_is_killed(
    cluster: list[QdrantServer], shared_data: Path, tmp_path: Path
) -> None:
    documents, asked = published(shared_data)
    local = hybrid(Memory())
    expected = run_of(local, indexed(local, documents, tmp_path / "local"), asked)
    settings = {"shards": 6, "replicas": 2, "collection": "spread"}
    folder = indexed(hybrid(qdrant(cluster[0].url, **settings)), documents, tmp_path / "cluster")
    for node in cluster:
        assert run_of(hybrid(qdrant(node.url, **settings)), folder, asked) == expected
    asking = client(cluster[0].url)
    info = asking.http.distributed_api.collection_cluster_info("spread").result
    assert info is not None
    assert 0 < len(info.local_shards) < 6
    assert len(info.local_shards) + len(info.remote_shards) == 12
    searcher = hybrid(qdrant(cluster[0].url, patience_s=20, **settings)).open(folder)
    cluster[2].kill()
    assert searcher.search(asked, 100, Stopwatch()) == expected


def killed_at(node: QdrantServer, points: int, asking: QdrantClient) -> threading.Thread:
    """Kills a node when the collection ``spread`` has so many points."""

    def kill() -> None:
        while not asking.collection_exists("spread") or asking.count("spread").count < points:
            time.sleep(0.005)
        node.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_node_of_three_that_is_lost_between_upserts_loses_no_point_and_adds_none(
    tmp_path: Path, replicas: int
) -> None:
    made = list(shards(directions(3000)))
    asked = directions(3, seed=1)
    expected = [full_sort(made, vector, 20) for vector in asked]
    with (
        QdrantServer(tmp_path / "0", cluster=True) as first,
        QdrantServer(tmp_path / "1", cluster=True, first=first) as second,
        QdrantServer(tmp_path / "2", cluster=True, first=first) as third,
    ):
        settings = {"collection": "spread", "shards": 6, "replicas": replicas}
        store = qdrant(first.url, **settings)
        killer = killed_at(third, 900, client(first.url))
        if replicas == 1:
            with pytest.raises(StoreError, match=r"a node of its cluster is lost, start that"):
                written(store, made, tmp_path)
            third.start()
        written(store, made, tmp_path)
        killer.join()
        for node in [first, second, *([third] if replicas == 1 else [])]:
            searcher = qdrant(node.url, **settings).open(tmp_path)
            assert [nearest(searcher, vector, 20) for vector in asked] == expected
        assert client(first.url).count("spread").count == 3000
