"""Hybrid search: one ranking from two indexes and from one store, and what the store does else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from bears.config import build, compose
from bears.errors import ConfigurationError
from bears.files.records import read_documents, read_questions
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


def hybrid(
    store: VectorStore, fused_by: Literal["us", "store"] = "us", window: int = 100
) -> Hybrid:
    dense = Dense(ENCODER, store, shard_size=50)
    return Hybrid(dense, bm25(), 60, window, fused_by)


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


def test_published_bears_is_ranked_alike_and_the_store_differs_in_ties_alone(
    shared_data: Path, tmp_path: Path
) -> None:
    corpus = read_documents(next((shared_data / "bears-published").rglob("corpus.json")))
    questions = read_questions(next((shared_data / "bears-published").rglob("queries.json")))
    asked = [Query(question.question) for question in questions]
    apart = indexed(hybrid(MEMORY), corpus, tmp_path / "apart")
    together = indexed(hybrid(LOCAL), corpus, tmp_path / "together")
    ours = answers(hybrid(LOCAL), together, asked)
    assert ours == answers(hybrid(MEMORY), apart, asked)
    # The store's own fusion: the same formula, so the same scores place for place, but for legs
    # in which documents tie. No corpus without equal passages has those in a dense leg.
    by_store = answers(hybrid(LOCAL, "store"), together, asked)
    same = sum(
        [hit.score for hit in one] == pytest.approx([hit.score for hit in other], rel=1e-5)
        for one, other in zip(ours, by_store, strict=True)
    )
    assert same >= 0.75 * len(asked)


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


@pytest.mark.parametrize("fused_by", ["us", "store"])
def test_a_first_place_in_both_legs_scores_two_sixty_firsts(
    fused_by: Literal["us", "store"], tmp_path: Path
) -> None:
    folder = indexed(hybrid(LOCAL), documents(*TEXTS), tmp_path / "index")
    (found,) = answers(hybrid(LOCAL, fused_by), folder, [Query("Paris, the largest town")])
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
    # Qdrant takes equal points as they come, and its window may cut through them.
    (as_they_come,) = answers(hybrid(LOCAL, "store", window=5), forward, [query], 5)
    assert [hit.doc_id for hit in as_they_come] != [hit.doc_id for hit in one]


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


@pytest.mark.parametrize("store", [MEMORY, LOCAL], ids=["memory", "local"])
def test_a_group_is_searched_alone_in_both_legs(store: VectorStore, tmp_path: Path) -> None:
    folder = indexed(hybrid(store), documents(*TEXTS), tmp_path / "index")
    (found,) = answers(hybrid(store), folder, [Query("the cat", "g1")])
    assert {hit.doc_id for hit in found} == {"d1", "d3", "d5"}


def test_any_two_retrievers_are_fused(tmp_path: Path) -> None:
    both = Hybrid(bm25(), BM25(0.9, 0.4, analyzer="words"), 60, 10, "us")
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


@pytest.mark.parametrize(
    ("store", "fused_by", "stages"),
    [
        (MEMORY, "us", {"encode", "search", "fuse"}),
        (LOCAL, "us", {"encode", "search", "fuse"}),
        (LOCAL, "store", {"encode", "search"}),
    ],
)
def test_each_stage_is_timed(
    store: VectorStore, fused_by: Literal["us", "store"], stages: set[str], tmp_path: Path
) -> None:
    folder = indexed(hybrid(store), documents(*TEXTS), tmp_path / "index")
    stopwatch = Stopwatch()
    searcher = hybrid(store, fused_by).open(folder)
    searcher.search([Query("cat")], 10, stopwatch)[0]
    assert stopwatch.seconds.keys() == stages
    assert searcher.exactness(["cat"], 10) == {"exact": True}  # type: ignore[attr-defined]


def test_a_store_without_both_vectors_is_not_asked_to_fuse() -> None:
    with pytest.raises(ConfigurationError, match="fused_by is 'store', but nothing here keeps"):
        hybrid(MEMORY, "store")


CHOICES = {
    "benchmark": "mini",
    "chunking": "none",
    "engine": "local",
    "translator": "published",
    "reader": "none",
    "rewriter": "none",
    "generator": "none",
    "judge": "none",
    "language": "zh-Hant-TW",
}


@pytest.mark.parametrize("vector_store", ["memory", "qdrant-local"])
def test_the_choice_hybrid_is_wordllama_beside_bm25_in_the_chosen_store(vector_store: str) -> None:
    choices = {**CHOICES, "retriever": "hybrid", "vector_store": vector_store}
    config = compose(ROOT / "conf", choices)["retriever"]
    assert (config["dense"]["name"], config["sparse"]["name"]) == ("wordllama", "bm25")
    assert config["dense"]["vector_store"]["name"] == vector_store
    assert isinstance(build(config, "retriever"), Hybrid)


def test_another_retriever_takes_the_place_of_one_leg_by_an_override() -> None:
    choices = {**CHOICES, "retriever": "hybrid", "vector_store": "memory"}
    config = compose(ROOT / "conf", choices, ["retriever@retriever.dense=bm25"])["retriever"]
    assert (config["name"], config["dense"]["name"]) == ("hybrid", "bm25")
    assert isinstance(build(config, "retriever"), Hybrid)


def test_bge_m3_beside_bm25_is_a_choice_of_its_own() -> None:
    choices = {**CHOICES, "retriever": "hybrid-bge-m3", "vector_store": "memory"}
    config = compose(ROOT / "conf", choices)["retriever"]
    assert (config["name"], config["dense"]["name"]) == ("hybrid-bge-m3", "bge-m3")
    assert config["constant"] == 60
    assert isinstance(build(config, "retriever"), Hybrid)
