"""Hybrid search: one ranking from two indexes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bears.config import build, compose, read_selection
from bears.retrieval.combined.fusion import reciprocal_ranks
from bears.retrieval.combined.hybrid import Hybrid
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query, Retriever
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stopwatch import Stopwatch
from bears.retrieval.stores.memory import Memory
from bears.retrieval.stores.vector_store import VectorStore
from bears.types import Document, Ranking
from tests.vectors import qdrant
from tests.workspace import ROOT

LOCAL = qdrant()
MEMORY = Memory()
ENCODER = WordLlama(256)


def bm25() -> BM25:
    return BM25(0.9, 0.4, analyzer="cjk-bigrams")


def hybrid(store: VectorStore) -> Hybrid:
    return Hybrid(Dense(ENCODER, store, shard_size=50), bm25(), 60, 100)


def documents(*texts: str) -> list[Document]:
    return [
        Document(f"d{i}", text, "s", str(i), False, f"g{i % 2}") for i, text in enumerate(texts)
    ]


def indexed(retriever: Retriever, corpus: list[Document], folder: Path) -> Path:
    folder.mkdir()
    retriever.index(iter(corpus), folder, folder.parent / "scratch")
    return folder


def answers(retriever: Retriever, folder: Path, asked: list[Query], k: int = 100) -> list[Ranking]:
    searcher = retriever.open(folder)
    return searcher.search(asked, k, Stopwatch())


TEXTS = (
    "The kitten sleeps on the sofa.",
    "A cat and a dog play in the garden.",
    "Paris is the largest town of the French Republic.",
    "Mix flour, water and yeast, then put the dough into the oven.",
    "She drove her car down the road.",
    "",
)


@pytest.fixture(scope="module")
def mini() -> tuple[list[Document], list[Query]]:
    """The paragraphs of mini's articles, cut into chunks, and the questions asked of them."""
    articles = json.loads((ROOT / "data/local/mini/drcd.json").read_text(encoding="utf-8"))
    corpus, asked = [], []
    for article in articles:
        for paragraph in article["paragraphs"]:
            for text in paragraph["context"].split("。"):
                corpus.append(Document(paragraph["id"], text, "drcd", "", False, article["id"]))
            asked += [Query(qa["question"]) for qa in paragraph["qas"]]
            asked += [Query(qa["question"], article["id"]) for qa in paragraph["qas"][:1]]
    return corpus, asked[::5]


def test_one_store_gives_the_ranking_of_two_indexes(
    mini: tuple[list[Document], list[Query]], tmp_path: Path
) -> None:
    corpus, asked = mini
    apart = indexed(hybrid(MEMORY), corpus, tmp_path / "apart")
    together = indexed(hybrid(LOCAL), corpus, tmp_path / "together")
    assert len(asked) > 30
    assert answers(hybrid(MEMORY), apart, asked) == answers(hybrid(LOCAL), together, asked)


def test_the_fused_scores_are_those_of_the_legs_ranked_alone(tmp_path: Path) -> None:
    folder = indexed(hybrid(LOCAL), documents(*TEXTS), tmp_path / "hybrid")
    dense = Dense(ENCODER, MEMORY)
    legs: dict[str, Retriever] = {"dense": dense, "sparse": bm25()}
    query = Query("a cat on the sofa")
    alone = [
        answers(leg, indexed(leg, documents(*TEXTS), tmp_path / name), [query])[0]
        for name, leg in legs.items()
    ]
    assert answers(hybrid(LOCAL), folder, [query])[0] == reciprocal_ranks(alone, 100, 60)


def test_a_first_place_in_both_legs_scores_two_sixty_firsts(tmp_path: Path) -> None:
    folder = indexed(hybrid(LOCAL), documents(*TEXTS), tmp_path / "index")
    (found,) = answers(hybrid(LOCAL), folder, [Query("Paris, the largest town")])
    assert found[0].doc_id == "d2"
    assert found[0].score == pytest.approx(2 / 61, rel=1e-6)


def test_equal_documents_are_ranked_by_id_whatever_their_order_in_the_corpus(
    tmp_path: Path,
) -> None:
    corpus = documents(*["the same words"] * 30, *["other words"] * 30)
    forward = indexed(hybrid(LOCAL), corpus, tmp_path / "forward")
    backward = indexed(hybrid(LOCAL), corpus[::-1], tmp_path / "backward")
    query = Query("the same words")
    (one,), (other,) = (answers(hybrid(LOCAL), f, [query], 5) for f in (forward, backward))
    assert one == other
    assert [hit.doc_id for hit in one] == ["d9", "d8", "d7", "d6", "d5"]


@pytest.mark.parametrize("store", [MEMORY, LOCAL], ids=["memory", "local"])
def test_a_question_without_a_known_word_is_answered_by_the_dense_leg(
    store: VectorStore, tmp_path: Path
) -> None:
    folder = indexed(hybrid(store), documents(*TEXTS), tmp_path / "index")
    (found,) = answers(hybrid(store), folder, [Query("kittens")])
    assert len(found) == len(TEXTS)
    assert [hit.score for hit in found] == pytest.approx(
        [1 / (60 + rank) for rank in range(1, 7)], rel=1e-6
    )


def test_any_two_retrievers_are_fused(tmp_path: Path) -> None:
    both = Hybrid(bm25(), BM25(0.9, 0.4, analyzer="words"), 60, 10)
    folder = indexed(both, documents(*TEXTS), tmp_path / "index")
    (found,) = answers(both, folder, [Query("cat garden")])
    assert [hit.doc_id for hit in found] == ["d1"]
    assert found[0].score == pytest.approx(2 / 61, rel=1e-6)


def test_documents_are_read_once_and_only_vectors_are_left_in_scratch(tmp_path: Path) -> None:
    def stream() -> Iterator[Document]:
        yield from documents(*TEXTS)

    (tmp_path / "index").mkdir()
    hybrid(MEMORY).index(stream(), tmp_path / "index", tmp_path / "scratch")
    left = [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert {path.suffix for path in left} == {".vectors"}
    (found,) = answers(hybrid(MEMORY), tmp_path / "index", [Query("car")])
    assert found[0].doc_id == "d4"


def test_each_stage_is_timed(tmp_path: Path) -> None:
    folder = indexed(hybrid(MEMORY), documents(*TEXTS), tmp_path / "index")
    stopwatch = Stopwatch()
    searcher = hybrid(MEMORY).open(folder)
    searcher.search([Query("cat")], 10, stopwatch)
    assert stopwatch.seconds.keys() == {"encode", "search", "fuse"}
    assert searcher.exactness(["cat"], 10) == {"exact": True}


@pytest.mark.parametrize(
    ("name", "override", "dense"),
    [
        ("hybrid", "vector_store=qdrant-local", "wordllama"),
        ("hybrid", "retriever@retriever.dense=bm25", "bm25"),
        ("hybrid-bge-m3", "vector_store=memory", "bge-m3"),
    ],
)
def test_the_configuration_fuses_any_retriever_with_bm25(
    name: str, override: str, dense: str
) -> None:
    selection = {**read_selection(ROOT / "params.yaml"), "retriever": name}
    config = compose(ROOT / "conf", selection, [override])["retriever"]
    assert (config["dense"]["name"], config["sparse"]["name"]) == (dense, "bm25")
    assert config["constant"] == 60
    assert isinstance(build(config, "retriever"), Hybrid)
