"""Two rankings that Qdrant fuses, against the formulas, and against BM25's and our own fusion."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.config.typed import build
from bears.errors import ConfigurationError
from bears.files.records import read_lines
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.combined.qdrant_hybrid import QdrantHybrid
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stores.memory import Memory
from bears.retrieval.vectors import VectorStore
from bears.types import Document, Ranking
from tests.qdrant_server import QdrantServer
from tests.retrieving import ask, composed, document, documents, ids, indexed, opened
from tests.vectors import qdrant

ENCODER = WordLlama(256)
TEXTS = (
    "The kitten sleeps on the sofa all day and all night.",
    "A cat and a dog play in the garden with a ball.",
    "Paris is the largest town of the French Republic.",
    "Mix flour, water and yeast, then put the dough into the oven.",
    "She drove her car down the road to the garden of the town.",
    "The garden has a pond, and a cat.",
)
QUESTION = "Which cat plays in a garden of the town?"


def bm25() -> BM25:
    return BM25(0.9, 0.4, analyzer="english")


def fused_by(store: VectorStore) -> QdrantHybrid:
    return QdrantHybrid(Dense(ENCODER, store), bm25(), 60, 100)


def legs(folder: Path) -> list[Ranking]:
    made: dict[str, Retriever] = {"dense": Dense(ENCODER, Memory()), "sparse": bm25()}
    return [ask(opened(leg, documents(TEXTS), folder / n), QUESTION) for n, leg in made.items()]


@pytest.fixture(params=["here", pytest.param("server", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest) -> VectorStore:
    on_server = request.param == "server"
    return qdrant(request.getfixturevalue("qdrant_url")) if on_server else qdrant()


def test_a_document_scores_the_sum_of_one_over_sixty_plus_its_rank(
    store: VectorStore, tmp_path: Path
) -> None:
    expected = dict.fromkeys((f"d{n}" for n in range(len(TEXTS))), 0.0)
    for leg in legs(tmp_path):
        for rank, hit in enumerate(leg, start=1):
            expected[hit.doc_id] += 1 / (60 + rank)
    stopwatch = Stopwatch()
    searcher = opened(fused_by(store), documents(TEXTS), tmp_path / "fused")
    [found] = searcher.search([Query(QUESTION)], 10, stopwatch)
    assert dict(found) == pytest.approx(expected, rel=1e-5)
    assert stopwatch.seconds.keys() == {"encode", "search"}
    assert searcher.exactness([QUESTION], 10) == {"exact": True}


def test_a_question_without_a_known_word_is_ranked_by_its_vector(
    store: VectorStore, tmp_path: Path
) -> None:
    found = ask(opened(fused_by(store), documents(TEXTS), tmp_path), "felines", 3)
    alone = ask(opened(Dense(ENCODER, Memory()), documents(TEXTS), tmp_path / "a"), "felines", 3)
    assert ids(found) == ids(alone)


WORDS = st.lists(st.sampled_from(["red", "apple", "garden", "stone", "far", "noon"]), max_size=12)


@settings(max_examples=40, deadline=None)
@given(texts=st.lists(WORDS, min_size=1, max_size=8), asked=WORDS, b=st.floats(0, 1))
def test_the_product_of_the_terms_of_a_question_and_a_chunk_is_the_score_of_bm25(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]], asked: list[str], b: float
) -> None:
    made = BM25(1.2, b, analyzer="words")
    searcher = opened(made, documents(map(" ".join, texts)), tmp_path_factory.mktemp("bm25"))
    question = dict(zip(*searcher.terms_asked(" ".join(asked)), strict=True))
    products = {}
    for number, terms in enumerate(searcher.terms_held(range(len(texts)))):
        shared = [question.get(n, 0) * weight for n, weight in zip(*terms, strict=True)]
        if any(shared):
            products[f"d{number}"] = sum(shared)
    assert products == pytest.approx(dict(ask(searcher, " ".join(asked))), rel=1e-5)


def test_the_index_in_this_process_holds_plain_files_of_its_own(tmp_path: Path) -> None:
    folder = indexed(fused_by(qdrant()), documents(TEXTS), tmp_path)
    assert {path.suffix for path in folder.rglob("*") if path.is_file()} <= {
        *(".npy", ".json", ".jsonl", ".txt")
    }


@pytest.mark.slow
def test_other_terms_are_another_collection(qdrant_url: str, tmp_path: Path) -> None:
    for name, analyzer in (("a", "english"), ("b", "words"), ("c", "english")):
        dense, sparse = Dense(ENCODER, qdrant(qdrant_url)), BM25(0.9, 0.4, analyzer=analyzer)
        indexed(QdrantHybrid(dense, sparse, 60, 100), documents(TEXTS), tmp_path / name)
    a, b, c = ((tmp_path / n / "index/dense/store.json").read_bytes() for n in "abc")
    assert a == c != b


@pytest.mark.parametrize(
    ("word", "said"), [("vector_store=memory", "Memory and BM25"), ("dense=bm25", "BM25 and BM25")]
)
def test_vectors_in_another_store_are_refused(word: str, said: str) -> None:
    words = [word.replace("dense=", "retriever@retriever.dense=")]
    config = composed("retriever", "retriever=qdrant-hybrid", *words)
    with pytest.raises(ConfigurationError, match=f"has {said}; expected .*=qdrant-local, or"):
        build(config, "retriever")


# On real data --------------------------------------------------------------------------------


def same_places(some: list[Ranking], others: list[Ranking]) -> float:
    """The share of the first ten places with the same document."""
    pairs = [
        (one.doc_id, other.doc_id)
        for ranking, another in zip(some, others, strict=True)
        for one, other in zip(ranking[:10], another[:10], strict=True)
    ]
    return fmean(one == other for one, other in pairs)


@pytest.fixture(scope="module")
def scifact(
    shared_data: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[list[Document], list[Query], list[Ranking]]:
    """Its documents, every question of its test set, and what our own fusion finds."""
    folder = shared_data / "scifact"
    rows: list[dict[str, Any]] = [row for _, row in read_lines(folder / "corpus.jsonl")]
    corpus = [document(row["_id"], f"{row['title']} {row['text']}") for row in rows]
    with (folder / "qrels/test.tsv").open() as lines:
        judged = {line.split("\t")[0] for line in islice(lines, 1, None)}
    texts = (row for _, row in read_lines(folder / "queries.jsonl"))
    asked = [Query(row["text"]) for row in texts if row["_id"] in judged]
    assert (len(corpus), len(asked)) == (5183, 300)
    ours = Hybrid(Dense(ENCODER, Memory()), bm25(), 60, 100)
    return corpus, asked, run_of(opened(ours, corpus, tmp_path_factory.mktemp("ours")), asked)


def run_of(searcher: Searcher, asked: list[Query]) -> list[Ranking]:
    return searcher.search(asked, 100, Stopwatch())


@pytest.mark.slow
def test_a_server_fuses_scifact_as_we_do(
    qdrant_url: str, scifact: tuple[list[Document], list[Query], list[Ranking]], tmp_path: Path
) -> None:
    corpus, asked, expected = scifact
    searcher = opened(fused_by(qdrant(qdrant_url, batch=500)), corpus, tmp_path)
    assert same_places(run_of(searcher, asked), expected) >= 0.95


@pytest.mark.slow
def test_a_cluster_fuses_scifact_as_we_do_also_when_a_node_is_killed(
    scifact: tuple[list[Document], list[Query], list[Ranking]], tmp_path: Path
) -> None:
    corpus, asked, expected = scifact
    with ExitStack() as stack:
        first = stack.enter_context(QdrantServer(tmp_path / "0", cluster=True))
        _, third = (
            stack.enter_context(QdrantServer(tmp_path / name, cluster=True, first=first))
            for name in "12"
        )
        store = qdrant(first.url, batch=500, shards=6, replicas=2, patience_s=20)
        searcher = opened(fused_by(store), corpus, tmp_path / "index")
        assert same_places(run_of(searcher, asked), expected) >= 0.95
        third.kill()
        assert same_places(run_of(searcher, asked[:60]), expected[:60]) >= 0.95


@pytest.mark.slow
def test_this_process_fuses_scifact_as_we_do(
    scifact: tuple[list[Document], list[Query], list[Ranking]], tmp_path: Path
) -> None:
    corpus, asked, expected = scifact
    searcher = opened(fused_by(qdrant(batch=500)), corpus, tmp_path)
    # A question takes a second here.
    assert same_places(run_of(searcher, asked[::10]), expected[::10]) >= 0.95
