"""A real Qdrant server and a cluster of three: equal to memory, killed, resumed, refused."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from qdrant_client import QdrantClient, models

from bears.errors import ConfigurationError, StoreError
from bears.files.records import read_documents, read_json, read_questions
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query, Searcher, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stores.memory import Memory
from bears.retrieval.stores.qdrant_server import Hnsw
from bears.retrieval.vectors import Shard, VectorStore
from bears.types import Document, Ranking
from tests.qdrant_server import QdrantServer, free_ports
from tests.retrieving import ids, indexed, opened
from tests.vectors import directions, full_sort, nearest, qdrant, shards

KEY = "TEST_QDRANT_KEY"


def client(url: str, key: str | None = None) -> QdrantClient:
    return QdrantClient(url=url, api_key=key, check_compatibility=False)


@contextmanager
def cluster_of_three(folder: Path) -> Iterator[list[QdrantServer]]:
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


def stored_in(folder: Path) -> str:
    """The name of the collection of an index."""
    return str(read_json(folder / "store.json")["collection"])


def versions(url: str, collection: str, number: int) -> list[int]:
    """The operation that last changed each point: one that is sent again gets a new one."""
    every = models.SampleQuery(sample=models.Sample.RANDOM)
    found = client(url).query_points(collection, query=every, limit=number, with_payload=False)
    return [point.version for point in sorted(found.points, key=lambda point: int(point.id))]


def test_the_server_gives_the_ranking_of_a_full_sort(qdrant_url: str, tmp_path: Path) -> None:
    vectors = directions(600, seed=1)
    vectors[100:300] = vectors[0]
    made = list(shards(vectors))
    searcher = qdrant(qdrant_url).open(written(qdrant(qdrant_url), made, tmp_path))
    for vector in (vectors[0], *directions(5, seed=9)):
        for k in (1, 10, 1000):
            assert nearest(searcher, vector, k) == full_sort(made, vector, k)
    assert nearest(searcher, vectors[0], 4, "g7") == full_sort(made, vectors[0], 4, "g7")
    assert searcher.exactness(vectors, 10) == {"exact": True}


def test_a_point_has_the_id_the_text_and_the_group_of_what_was_indexed(
    qdrant_url: str, tmp_path: Path
) -> None:
    made = list(shards(directions(30, seed=20), size=4))
    written(qdrant(qdrant_url), made, tmp_path)
    (point,) = client(qdrant_url).retrieve(stored_in(tmp_path), [17])
    assert point.payload is not None
    assert point.payload["shard"] == read_json(tmp_path / "store.json")["shards"]["16"]
    del point.payload["shard"]
    assert point.payload == {"doc_id": "d17", "text": "text 17", "group": "g1"}


@pytest.mark.slow
def test_the_same_vectors_are_sent_once_and_their_collection_is_used_again(
    qdrant_url: str, tmp_path: Path
) -> None:
    made = list(shards(directions(300, seed=21)))
    one, other = (written(qdrant(qdrant_url), made, tmp_path / name) for name in "ab")
    assert (one / "store.json").read_bytes() == (other / "store.json").read_bytes()
    name = read_json(one / "store.json")["collection"]
    assert name.startswith("bears-test-")
    before = versions(qdrant_url, name, 300)
    written(qdrant(qdrant_url), made, one)
    assert versions(qdrant_url, name, 300) == before
    # Other vectors, or a graph, are another collection.
    changed = written(qdrant(qdrant_url), shards(directions(300, seed=22)), tmp_path / "c")
    graph = written(qdrant(qdrant_url, exact=False), made, tmp_path / "d")
    names = {read_json(folder / "store.json")["collection"] for folder in (one, changed, graph)}
    assert len(names) == 3


@pytest.mark.slow
def test_an_approximate_search_tells_its_recall(qdrant_url: str, tmp_path: Path) -> None:
    made, asked = list(shards(directions(2000, 64), 500)), directions(10, 64, seed=1)
    rough = qdrant(qdrant_url, exact=False, batch=500)
    searcher = rough.open(written(rough, made, tmp_path))
    shares = [
        len({*ids(nearest(searcher, each, 10))} & {*ids(full_sort(made, each, 10))}) / 10
        for each in asked
    ]
    said = searcher.exactness(asked, 10)
    assert (said["exact"], said["ef"]) == (False, 4)
    assert said["recall"] == pytest.approx(sum(shares) / len(shares), abs=1e-6)
    assert 0.1 < sum(shares) / len(shares) < 0.99


@pytest.mark.slow
def test_a_recall_without_a_graph_says_that_there_is_none(qdrant_url: str, tmp_path: Path) -> None:
    made, asked = list(shards(directions(200, 64), 50)), directions(2, 64, seed=1)
    settings = {"m": 4, "ef_construct": 16, "ef": 4, "from_kb": 10}
    for changed, said in (
        ({}, None),
        ({"from_kb": 51}, "none: 50 KB of vectors, from_kb is 51"),
        ({"m": 0}, "none: m is 0"),
    ):
        store = qdrant(qdrant_url, exact=False, hnsw=Hnsw(**{**settings, **changed}))
        found = store.open(written(store, made, tmp_path)).exactness(asked, 10)
        assert found.get("graph") == said
        assert said is None or found["recall"] == 1


def test_a_collection_that_holds_something_else_is_never_written_to(
    qdrant_url: str, tmp_path: Path
) -> None:
    asking, made = client(qdrant_url), list(shards(directions(200, seed=23)))
    name = stored_in(written(qdrant(qdrant_url), made, tmp_path))
    with pytest.raises(StoreError, match=r"bears-test-\w+ at http.* 200 points in place of 100"):
        qdrant(qdrant_url).write(made[:1], tmp_path)
    asking.set_payload(name, {"shard": "another"}, points=[0], wait=True)
    before = versions(qdrant_url, name, 200)
    with pytest.raises(StoreError, match=r"at http.* holds other points, .*vector_store\.label"):
        qdrant(qdrant_url).write(made, tmp_path)
    assert versions(qdrant_url, name, 200) == before
    asking.delete_collection(name)
    theirs = models.VectorParams(size=16, distance=models.Distance.COSINE)
    asking.create_collection(name, vectors_config=theirs)
    with pytest.raises(StoreError, match=r"at http.* holds other points, which is not this index"):
        qdrant(qdrant_url).write(made, tmp_path)


def test_an_index_whose_collection_has_changed_is_not_searched(
    qdrant_url: str, tmp_path: Path
) -> None:
    store = qdrant(qdrant_url, label="changing")
    folder = written(store, shards(directions(100, seed=25)), tmp_path)
    client(qdrant_url).delete(stored_in(folder), points_selector=[3], wait=True)
    with pytest.raises(StoreError, match=r"changing-\w+ at http.* holds other points, or none"):
        store.open(folder)
    client(qdrant_url).delete_collection(stored_in(folder))
    with pytest.raises(StoreError, match=r"changing-\w+ at http.* holds other points, or none"):
        store.open(folder)


def test_a_wrong_address_shows_at_once_and_before_anything_is_encoded(tmp_path: Path) -> None:
    def never() -> Iterator[Shard]:
        raise AssertionError("something was encoded")
        yield

    (port,) = free_ports(1)
    started = time.monotonic()
    with pytest.raises(StoreError, match=f"127.0.0.1:{port}; Qdrant there fails"):
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
        with pytest.raises(ConfigurationError, match=f"variable {KEY} is not set"):
            guarded.write(made, tmp_path)
        with pytest.raises(StoreError, match=r"40[13] .*api_key_env .none."):
            qdrant(server.url).write(made, tmp_path)
        monkeypatch.setenv(KEY, "wrong-one")
        with (
            pytest.warns(UserWarning, match="insecure connection"),
            pytest.raises(StoreError, match=rf"40[13] .*api_key_env .{KEY}.") as caught,
        ):
            guarded.write(made, tmp_path)
        assert "wrong-one" not in str(caught.value)
        monkeypatch.delenv(KEY)
        (tmp_path / ".env").write_text(f"{KEY}=right\n")
        with pytest.warns(UserWarning, match="insecure connection"):
            assert nearest(guarded.open(written(guarded, made, tmp_path)), directions(1)[0], 1)


def only_one(asking: QdrantClient) -> str:
    """The name of the only collection; empty before it is made."""
    return next((each.name for each in asking.get_collections().collections), "")


def killed_at(node: QdrantServer, points: int, asking: QdrantClient) -> threading.Thread:
    """Kills a node when its only collection has so many points."""

    def kill() -> None:
        while not (name := only_one(asking)) or asking.count(name).count < points:
            time.sleep(0.001)
        node.kill()

    killer = threading.Thread(target=kill)
    killer.start()
    return killer


@pytest.mark.slow
def test_a_server_killed_while_it_is_written_to_is_resumed_and_holds_nothing_twice(
    tmp_path: Path,
) -> None:
    made = list(shards(directions(1000)))
    with QdrantServer(tmp_path / "server") as server:
        store = qdrant(server.url, batch=10, patience_s=0.5)
        watching = client(server.url)

        killer = killed_at(server, 430, watching)
        with pytest.raises(StoreError, match=r"Qdrant there fails .* Then run the same again"):
            store.write(made, tmp_path)
        killer.join()
        assert not (tmp_path / "store.json").exists()
        server.start()
        name = only_one(watching)
        kept = watching.count(name).count
        assert 430 <= kept < 1000
        before = versions(server.url, name, kept)
        whole = kept // 100 * 100
        written(store, made, tmp_path)
        # What was there of whole shards was not sent again.
        assert versions(server.url, name, 1000)[:whole] == before[:whole]
        assert watching.count(name).count == 1000
        searcher = store.open(tmp_path)
        for vector in directions(3, seed=1):
            assert nearest(searcher, vector, 20) == full_sort(made, vector, 20)


@pytest.mark.slow
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
        with pytest.raises(StoreError, match=f"{server.url}; Qdrant there fails"):
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
    dense = Dense(WordLlama(256), store, shard_size=200)
    return Hybrid(dense, BM25(0.9, 0.4, analyzer="jieba"), 60, 100)


def run_of(searcher: Searcher, asked: list[Query]) -> list[Ranking]:
    return searcher.search(asked, 100, Stopwatch())


@pytest.fixture(scope="module")
def published(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Document], list[Query], list[Ranking]]:
    """Published documents and questions, and the run of the hybrid retriever in memory."""
    folder = shared_data / "bears-published"
    documents = read_documents(next(folder.rglob("corpus.json")))
    asked = [Query(q.question) for q in read_questions(next(folder.rglob("queries.json")))]
    local = opened(hybrid(Memory()), documents, tmp_path_factory.mktemp("local"))
    return documents, asked, run_of(local, asked)


@pytest.mark.slow
def test_the_hybrid_run_of_a_server_equals_the_one_in_memory(
    qdrant_url: str,
    published: tuple[list[Document], list[Query], list[Ranking]],
    tmp_path: Path,
) -> None:
    documents, asked, expected = published
    assert run_of(opened(hybrid(qdrant(qdrant_url)), documents, tmp_path), asked) == expected


@pytest.mark.slow
def test_the_hybrid_run_of_a_cluster_equals_the_local_one_also_when_a_node_is_killed(
    published: tuple[list[Document], list[Query], list[Ranking]], tmp_path: Path
) -> None:
    documents, asked, expected = published
    settings = {"shards": 6, "replicas": 2}
    with cluster_of_three(tmp_path) as nodes:
        folder = indexed(hybrid(qdrant(nodes[0].url, **settings)), documents, tmp_path)
        for node in nodes:
            assert run_of(hybrid(qdrant(node.url, **settings)).open(folder), asked) == expected
        asking = client(nodes[0].url)
        info = asking.http.distributed_api.collection_cluster_info(only_one(asking)).result
        assert info is not None
        assert 0 < len(info.local_shards) < 6
        assert len(info.local_shards) + len(info.remote_shards) == 12
        searcher = hybrid(qdrant(nodes[0].url, patience_s=20, **settings)).open(folder)
        nodes[2].kill()
        assert run_of(searcher, asked) == expected


@pytest.mark.slow
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_node_of_three_that_is_lost_between_upserts_loses_no_point_and_adds_none(
    tmp_path: Path, replicas: int
) -> None:
    made = list(shards(directions(3000)))
    asked = directions(3, seed=1)
    expected = [full_sort(made, vector, 20) for vector in asked]
    with cluster_of_three(tmp_path) as (first, second, third):
        settings = {"shards": 6, "replicas": replicas}
        store = qdrant(first.url, **settings)
        killer = killed_at(third, 900, client(first.url))
        if replicas == 1:
            with pytest.raises(StoreError, match=r"Qdrant there fails .* all nodes of its cluster"):
                written(store, made, tmp_path)
            third.start()
        written(store, made, tmp_path)
        killer.join()
        for node in [first, second, *([third] if replicas == 1 else [])]:
            searcher = qdrant(node.url, **settings).open(tmp_path)
            assert [nearest(searcher, vector, 20) for vector in asked] == expected
        assert client(first.url).count(stored_in(tmp_path)).count == 3000
