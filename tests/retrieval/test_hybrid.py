"""Hybrid search: one ranking from two indexes, fused by reciprocal ranks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bears.config.typed import build
from bears.retrieval.combined.hybrid import Hybrid, reciprocal_ranks
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query, Retriever, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stores.memory import Memory
from bears.retrieval.vectors import VectorStore
from bears.types import Hit, Ranking
from tests.retrieving import ask, composed, document, documents, ids, opened
from tests.vectors import qdrant
from tests.workspace import ROOT

LOCAL = qdrant()
ENCODER = WordLlama(256)


def bm25() -> BM25:
    return BM25(0.9, 0.4, analyzer="cjk-bigrams")


def hybrid(store: VectorStore) -> Hybrid:
    return Hybrid(Dense(ENCODER, store, shard_size=50), bm25(), 60, 100)


TEXTS = (
    "The kitten sleeps on the sofa.",
    "A cat and a dog play in the garden.",
    "Paris is the largest town of the French Republic.",
    "Mix flour, water and yeast, then put the dough into the oven.",
    "She drove her car down the road.",
    "",
)


@pytest.mark.slow
def test_one_store_gives_the_ranking_of_two_indexes(tmp_path: Path) -> None:
    """The paragraphs of mini's articles, cut into chunks, and the questions asked of them."""
    corpus, asked = [], []
    articles = json.loads((ROOT / "data/local/mini/drcd.json").read_text(encoding="utf-8"))
    for article in articles[:6]:
        for paragraph in article["paragraphs"]:
            texts = paragraph["context"].split("。")
            corpus += [
                document(f"{paragraph['id']}#{number}", text, article["id"])
                for number, text in enumerate(texts)
            ]
            asked += [Query(qa["question"]) for qa in paragraph["qas"]]
            asked += [Query(qa["question"], article["id"]) for qa in paragraph["qas"][:1]]
    assert len(asked[::2]) > 30
    apart, together = (
        opened(hybrid(store), corpus, tmp_path / name).search(asked[::2], 100, Stopwatch())
        for name, store in (("apart", Memory()), ("together", LOCAL))
    )
    assert apart == together


def test_the_fused_scores_are_those_of_the_legs_ranked_alone_and_each_stage_is_timed(
    tmp_path: Path,
) -> None:
    query, stopwatch = Query("a cat on the sofa"), Stopwatch()
    searcher = opened(hybrid(LOCAL), documents(TEXTS), tmp_path / "hybrid")
    legs: dict[str, Retriever] = {"dense": Dense(ENCODER, Memory()), "sparse": bm25()}
    alone = [
        ask(opened(leg, documents(TEXTS), tmp_path / name), query, 100)
        for name, leg in legs.items()
    ]
    assert searcher.search([query], 100, stopwatch) == [reciprocal_ranks(alone, 100, 60)]
    assert stopwatch.seconds.keys() == {"encode", "search", "fuse"}
    assert searcher.exactness(["cat"], 10) == {"exact": True}


@pytest.mark.parametrize("store", [Memory(), LOCAL], ids=["memory", "local"])
def test_a_question_without_a_known_word_is_answered_by_the_dense_leg(
    store: VectorStore, tmp_path: Path
) -> None:
    found = ask(opened(hybrid(store), documents(TEXTS), tmp_path), "kittens", 100)
    expected = [1 / (60 + rank) for rank in range(1, 1 + len(TEXTS))]
    assert [hit.score for hit in found] == pytest.approx(expected, rel=1e-6)
    left = [path for path in (tmp_path / "scratch").rglob("*") if path.is_file()]
    assert {path.suffix for path in left} == {".vectors"}


def test_any_two_retrievers_are_fused(tmp_path: Path) -> None:
    both = Hybrid(bm25(), BM25(0.9, 0.4, analyzer="words"), 60, 10)
    [hit] = ask(opened(both, documents(TEXTS), tmp_path), "cat garden")
    assert hit.doc_id == "d1"
    assert hit.score == pytest.approx(2 / 61, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "override", "dense"),
    [
        ("hybrid", "vector_store=qdrant-local", "wordllama"),
        ("hybrid", "vector_store=qdrant", "wordllama"),
        ("hybrid", "retriever@retriever.dense=bm25", "bm25"),
        ("hybrid-bge-m3", "vector_store=memory", "bge-m3"),
    ],
)
def test_the_configuration_fuses_any_retriever_with_bm25(
    name: str, override: str, dense: str
) -> None:
    config = composed("retriever", f"retriever={name}", override)
    assert (config["dense"]["name"], config["sparse"]["name"]) == (dense, "bm25")
    assert config["constant"] == 60
    assert isinstance(build(config, "retriever"), Hybrid)


# Fusion, against the paper's formula -----------------------------------------------------------


def ranking(*doc_ids: str) -> Ranking:
    return tuple(Hit(doc_id, 1.0 - place / 10) for place, doc_id in enumerate(doc_ids))


def test_a_document_scores_the_sum_of_one_over_sixty_plus_its_rank_from_one() -> None:
    fused = reciprocal_ranks([ranking("a", "b", "c"), ranking("c", "a")], 10, 60)
    assert ids(fused) == ["a", "c", "b"]
    assert [hit.score for hit in fused] == pytest.approx(
        [1 / 61 + 1 / 62, 1 / 63 + 1 / 61, 1 / 62], rel=1e-6
    )


def test_documents_that_swap_their_ranks_tie_and_the_greater_id_comes_first() -> None:
    fused = reciprocal_ranks([ranking("a", "b"), ranking("b", "a")], 10, 60)
    assert ids(fused) == ["b", "a"]
    assert len({hit.score for hit in fused}) == 1


def test_the_scores_of_the_legs_do_not_count() -> None:
    near = (Hit("a", 0.9), Hit("b", 0.89))
    far = (Hit("a", 40.0), Hit("b", -7.0))
    assert reciprocal_ranks([near], 2, 60) == reciprocal_ranks([far], 2, 60)


def test_a_smaller_constant_lets_one_first_place_weigh_more_than_two_fifth_ones() -> None:
    legs = [ranking("x", "1", "2", "3", "both"), ranking("4", "5", "6", "7", "both")]
    assert reciprocal_ranks(legs, 1, 60)[0].doc_id == "both"
    assert reciprocal_ranks(legs, 1, 1)[0].doc_id == "x"


def test_what_only_one_leg_finds_is_found_and_no_more_than_asked_for_is_given() -> None:
    assert ids(reciprocal_ranks([ranking("a", "b"), ()], 1, 60)) == ["a"]
    assert reciprocal_ranks([(), ()], 5, 60) == ()
