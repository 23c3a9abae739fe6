"""A collection that another program filled with the client alone: searched, and never changed.

The server's key for reading is all that we have, so any attempt to write fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from qdrant_client import QdrantClient, models

from bears.errors import BearsError, ConfigurationError, StoreError
from bears.retrieval.combined.qdrant_hybrid import QdrantHybrid
from bears.retrieval.dense.dense import Dense
from bears.retrieval.levels import OpenIndex
from bears.retrieval.retriever import Query, RetrieveSettings, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.types import Chunk, Document, IndexedChunk, Ranking
from tests.qdrant_server import QdrantServer
from tests.retrieving import Letters, ask, documents, ids, opened
from tests.vectors import qdrant

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
KEY = "TEST_QDRANT_READER"
LETTERS = Letters()
TEXTS = [f"{one} {other}" for one in ("ape", "bear", "cat") for other in ("dog", "elk", "fox")]
WIDE: dict[str, Any] = {"size": 26, "distance": models.Distance.COSINE}
Server = tuple[str, QdrantClient]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The address of a server that lets us only read, and a client that may write."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("QDRANT__SERVICE__READ_ONLY_API_KEY", "reader")
        patch.setenv(KEY, "reader")
        folder = tmp_path_factory.mktemp("theirs")
        with QdrantServer(folder, api_key="writer") as running:
            options: dict[str, Any] = {"check_compatibility": False}
            yield running.url, QdrantClient(running.url, api_key="writer", **options)


def fill(
    server: Server,
    name: str,
    payloads: list[dict[str, Any]],
    texts: list[str],
    vector: str = "",
    uuids: bool = False,
    **params: Any,
) -> None:
    """Make a collection as an application would: its own names, ids and lengths of vectors."""
    _, client = server
    client.delete_collection(name)
    dense = models.VectorParams(**{**WIDE, **params})
    client.create_collection(name, vectors_config={vector: dense} if vector else dense)
    points = []
    for number, (payload, text) in enumerate(zip(payloads, texts, strict=True)):
        made: dict[str, Any] = {vector: (3 * LETTERS.documents([text])[0]).tolist()}
        point_id = str(UUID(int=number)) if uuids else 10 * number
        points.append(models.PointStruct(id=point_id, vector=made, payload=payload))
    client.upsert(name, points, wait=True)


def reading(server: Server, name: str, **named: Any) -> Dense:
    store = qdrant(server[0], api_key_env=KEY, collection=name, **named)
    return Dense(LETTERS, store)


def by_cosine(texts: list[str], question: str) -> dict[str, float]:
    """The cosine of each text's letters with those of the question, the names d0, d1 …"""
    asked = LETTERS.documents([question])[0].astype(np.float64)
    products = LETTERS.documents(texts).astype(np.float64) @ asked
    return {f"d{number}": float(product) for number, product in enumerate(products)}


def assert_found(ranking: Ranking, expected: dict[str, float]) -> None:
    assert dict(ranking) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("uuids", [False, True], ids=["numbers", "uuids"])
@pytest.mark.parametrize("vector", ["", "text-dense"], ids=["unnamed", "named"])
@pytest.mark.parametrize(
    ("key", "payload"),
    [
        ("doc_id", lambda name: {"doc_id": name}),
        ("metadata.doc_id", lambda name: {"page_content": "x", "metadata": {"doc_id": name}}),
        ('"metadata.doc_id"', lambda name: {"metadata.doc_id": name, "metadata": {"n": 1}}),
        ('meta."doc.id"', lambda name: {"meta": {"doc.id": name}}),
        ("meta.source", lambda name: {"meta": {"source": f"/srv/files/{name}"}}),
    ],
)
def test_a_document_is_found_by_its_payload_in_the_order_of_cosines(
    server: Server, tmp_path: Path, key: str, payload: Any, vector: str, uuids: bool
) -> None:
    payloads = [payload(f"d{number}") for number in range(len(TEXTS))]
    fill(server, "app", payloads, TEXTS, vector, uuids=uuids)
    before = server[1].get_collection("app")
    retriever = reading(server, "app", id_key=key)
    found = ask(opened(retriever, documents(TEXTS), tmp_path), "an elk and a cat", 20)
    assert_found(found, by_cosine(TEXTS, "an elk and a cat"))
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
    assert server[1].get_collection("app") == before


def test_nothing_is_encoded_and_the_vectors_of_the_model_that_are_kept_stay(
    server: Server, tmp_path: Path
) -> None:
    fill(server, "app", [{"doc_id": "d0"}], ["ape"])
    counting = Letters()
    kept = tmp_path / "scratch" / "vectors" / "kept"
    kept.parent.mkdir(parents=True)
    kept.write_text("paid for")
    store = qdrant(server[0], api_key_env=KEY, collection="app")
    assert ids(ask(opened(Dense(counting, store), documents(TEXTS), tmp_path), "ape")) == ["d0"]
    assert (counting.asked, kept.read_text()) == ([], "paid for")


def test_a_document_of_many_points_counts_at_its_best_and_others_are_still_found(
    server: Server, tmp_path: Path
) -> None:
    texts = ["zebra"] * 400 + TEXTS[:3]
    names = ["d8"] * 400 + ["d0", "d1", "d2"]
    fill(server, "many", [{"doc_id": name} for name in names], texts)
    searcher = opened(reading(server, "many"), documents(TEXTS), tmp_path)
    found = ask(searcher, "zebra", 3)
    assert len(found) == 3
    assert found[0].doc_id == "d8"
    assert found[0].score == pytest.approx(1, rel=1e-5)


def test_an_id_that_is_no_document_keeps_its_place_and_is_marked(
    server: Server, tmp_path: Path
) -> None:
    payloads: list[dict[str, Any]] = [
        {"doc_id": "d0"},
        {"doc_id": 17},
        {"doc_id": "of another app"},
    ]
    fill(server, "more", payloads, ["ape", "ape ape bear", "bear"])
    searcher = opened(reading(server, "more"), documents(["ape"]), tmp_path)
    # The beginning of what `evaluate` counts as passages of no document.
    assert ids(ask(searcher, "ape")) == ["d0", "unmatched-17", "unmatched-of%20another%20app"]


def test_a_question_of_a_group_finds_the_documents_of_that_group(
    server: Server, tmp_path: Path
) -> None:
    names = [str(number) for number in range(9)]
    corpus = [
        Document(name, text, "s", name, False, f"g{int(name) % 2}")
        for name, text in zip(names, TEXTS, strict=True)
    ]
    # Some ids are numbers there.
    payloads = [{"doc_id": n if n < 5 else str(n)} for n in range(9)]
    fill(server, "grouped", payloads, TEXTS)
    searcher = opened(reading(server, "grouped"), corpus, tmp_path)
    assert {*ids(ask(searcher, Query("ape", "g1")))} == {"1", "3", "5", "7"}
    assert ask(searcher, Query("ape", "no such")) == ()


def test_points_of_chunks_are_those_of_the_chunks_that_were_indexed(
    server: Server, tmp_path: Path
) -> None:
    places = {f"long#{n}-{n + 3}": Chunk("long", n, n + 3) for n in (0, 4)}
    corpus = [
        IndexedChunk(name, "ape", "s", "long", False, "", chunk) for name, chunk in places.items()
    ]
    fill(server, "chunked", [{"doc_id": name} for name in places], ["ape", "bear"])
    searcher = opened(reading(server, "chunked"), corpus, tmp_path)
    index = OpenIndex(searcher, 2, places, RetrieveSettings(5, None, False))
    found = index.levels({"q": Query("ape")}, 5, Stopwatch())["q"]
    assert [hit.chunk for hit in found.chunks] == [*places.values()]
    assert ids(found.documents) == ["long"]


def test_a_hybrid_of_two_vectors_is_not_searched_there(server: Server) -> None:
    with pytest.raises(ConfigurationError, match=r"collection is 'both', but .* of its own; leave"):
        QdrantHybrid(reading(server, "both"), BM25(0.9, 0.4), 60, 3)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (
            {"collection": "none"},
            r"collection is 'none', but the collections at http\S+ are .*'app",
        ),
        (
            {"vector_name": "d"},
            r"vector_name is 'd', but the dense vectors of app-2 .* are 'a', 'b'",
        ),
        ({}, r"vector_name is '', but the dense vectors of app-2 .* are 'a', 'b', 'far', 'many'"),
        (
            {"vector_name": "far"},
            r"vector_name is 'far', but .* distance Euclid; name .*Cosine or D",
        ),
        ({"vector_name": "many"}, r"'many', but .* several a point; name vectors"),
        (
            {"vector_name": "b"},
            r"question has 26 dimensions, the index 4; choose the model that fil",
        ),
        (
            {"vector_name": "a", "id_key": "id"},
            r"id_key is 'id', but 2 points .* such as 0 with {'d",
        ),
        (
            {"vector_name": "a", "id_key": "d.x"},
            r"id_key is 'd.x', but 1 points .* 1 with {'d': 's'",
        ),
        (
            {"vector_name": "a", "id_key": "list"},
            r"point 0 .* has \['x'\] as 'list'; expected the id",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(
    server: Server, tmp_path: Path, named: dict[str, Any], said: str
) -> None:
    _, client = server
    multi = models.MultiVectorConfig(comparator=models.MultiVectorComparator.MAX_SIM)
    vectors = {
        "a": models.VectorParams(**WIDE),
        "b": models.VectorParams(size=4, distance=models.Distance.DOT),
        "far": models.VectorParams(size=26, distance=models.Distance.EUCLID),
        "many": models.VectorParams(**WIDE, multivector_config=multi),
    }
    client.delete_collection("app-2")
    client.create_collection("app-2", vectors_config=vectors)
    payloads: list[dict[str, Any]] = [{"d": {"x": "d0"}, "list": ["x"]}, {"d": "s", "list": "y"}]
    points = [
        models.PointStruct(id=n, vector={"a": [1.0] * 26, "b": [1.0] * 4}, payload=payload)
        for n, payload in enumerate(payloads)
    ]
    client.upsert("app-2", points, wait=True)
    settings = {"collection": "app-2", "id_key": "list", **named}
    retriever = Dense(LETTERS, qdrant(server[0], api_key_env=KEY, **settings))
    with pytest.raises(StoreError, match=said):
        ask(opened(retriever, documents(TEXTS), tmp_path), "ape")


def test_a_graph_that_misses_documents_says_so_with_the_settings_of_the_collection(
    server: Server, tmp_path: Path
) -> None:
    graph = models.HnswConfigDiff(m=5, ef_construct=7)
    fill(server, "graph", [{"doc_id": f"d{n}"} for n in range(9)], TEXTS)
    server[1].update_collection("graph", hnsw_config=graph)
    searcher = opened(reading(server, "graph", exact=False), documents(TEXTS), tmp_path)
    told = searcher.exactness(["ape"], 3)
    assert (told["exact"], told["m"], told["ef_construct"], told["ef"]) == (False, 5, 7, 4)


def test_without_a_server_there_is_no_collection_of_another_program(tmp_path: Path) -> None:
    alone = Dense(LETTERS, qdrant(collection="app"))
    with pytest.raises(StoreError, match=r"collection is 'app', but the collections .* are none"):
        opened(alone, documents(TEXTS), tmp_path)


def test_our_own_store_cannot_write_with_that_key(server: Server, tmp_path: Path) -> None:
    """So that the tests above show what they are to show."""
    writing = Dense(LETTERS, qdrant(server[0], api_key_env=KEY))
    with pytest.raises(BearsError, match="403"):
        opened(writing, documents(TEXTS), tmp_path)
