"""BM25 over postings: against a formula by hand, every posting added up, and Anserini's numbers."""

from __future__ import annotations

import csv
import math
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from bears.config.typed import build
from bears.files.records import read_lines
from bears.retrieval.ranking import BITS, best
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.bm25 import BM25, lucene_length
from bears.types import Document, Ranking
from tests.retrieving import ask, composed, document, documents, ids, opened

K1, B = 0.9, 0.4
EXACT = 2.0**-BITS
"""Relative error of a rounded score."""


def bm25(analyzer: str = "words") -> BM25:
    return BM25(K1, B, analyzer=analyzer)


def ranked(folder: Path, texts: Sequence[str], question: str) -> Ranking:
    return ask(opened(bm25(), documents(texts), folder), question)


TEXTS = ["cat cat dog", "dog bird", "fish fish fish fish cat"]


def score_by_hand(tf: int, df: int, length: int) -> float:
    """Lucene's BM25 for `TEXTS`. It has no factor (k1 + 1), which would not change an order."""
    n, average = 3, (3 + 2 + 5) / 3
    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + K1 * (1 - B + B * length / average))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        # A document without a shared term is left out, and a term asked for twice counts twice.
        ("bird unicorn", {"d1": score_by_hand(tf=1, df=1, length=2)}),
        ("fish fish", {"d2": 2 * score_by_hand(tf=4, df=1, length=5)}),
        (
            "cat bird",
            {
                "d0": score_by_hand(tf=2, df=2, length=3),
                "d1": score_by_hand(tf=1, df=1, length=2),
                "d2": score_by_hand(tf=1, df=2, length=5),
            },
        ),
    ],
)
def test_scores_are_those_of_the_formula(
    tmp_path: Path, question: str, expected: dict[str, float]
) -> None:
    scores = {hit.doc_id: hit.score for hit in ranked(tmp_path, TEXTS, question)}
    assert scores == pytest.approx(expected, rel=EXACT)


def added_up(indexed: Sequence[Document], question: str, group: str = "") -> dict[str, float]:
    """Every document, scored with nothing left out."""
    counted = [Counter(document.content.split()) for document in indexed]
    n, average = len(counted), sum(count.total() for count in counted) / len(counted)
    idf = {}
    for term in question.split():
        df = sum(term in count for count in counted)
        idf[term] = math.log(1 + (n - df + 0.5) / (df + 0.5))
    scores: dict[str, float] = {}
    for one, count in zip(indexed, counted, strict=True):
        norm = K1 * (1 - B + B * count.total() / average)
        score = sum(idf[t] * count[t] / (count[t] + norm) for t in question.split())
        if score and group in ("", one.group):
            scores[one.doc_id] = score
    return scores


def zipfian(chance: random.Random, documents: int) -> list[Document]:
    """Documents of which most have a few words in common."""
    weights = [1 / rank for rank in range(1, 301)]
    words = [f"w{rank}" for rank in range(1, 301)]
    return [
        document(
            f"d{number}",
            " ".join(chance.choices(words, weights, k=chance.randint(1, 30))),
            f"g{number % 3}",
        )
        for number in range(documents)
    ]


@pytest.mark.parametrize("number", [40, 1500])
def test_a_ranking_is_that_of_the_formula(tmp_path: Path, number: int) -> None:
    chance = random.Random(number)
    indexed = zipfian(chance, number)
    searcher = opened(bm25(), indexed, tmp_path)
    for k in (1, 10, 100):
        for group in ("", "g1"):
            for _ in range(5):
                # Rare words together with the most frequent ones.
                terms = [f"w{chance.choice([1, 2, 3, chance.randint(1, 60)])}" for _ in range(6)]
                expected = added_up(indexed, " ".join(terms), group)
                found = ask(searcher, Query(" ".join(terms), group), k)
                whole = best(np.array(list(expected.values())), list(expected), k)
                assert ids(found) == ids(whole)
                assert [h.score for h in found] == pytest.approx([h.score for h in whole])


@pytest.mark.parametrize(("remembered", "together"), [(50, 200), (1 << 20, 30)])
def test_batches_and_a_small_cache_change_no_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, remembered: int, together: int
) -> None:
    odd = "  a-b ! 台灣\u3000大學 x\x1cy é", "", "a-b\ud800c \x00 z_z", "w1 'quoted' 台灣 ß"
    indexed = zipfian(random.Random(4), 500)
    indexed = [*indexed[:250], *documents(odd), *indexed[250:], *documents(odd)]
    opened(bm25(), indexed, tmp_path / "one")
    monkeypatch.setattr("bears.retrieval.sparse.bm25.TOGETHER", together)
    monkeypatch.setattr("bears.retrieval.sparse.terms.REMEMBERED", remembered)
    opened(bm25(), indexed, tmp_path / "many")
    one, many = (
        {file.name: file.read_bytes() for file in (tmp_path / name / "index").iterdir()}
        for name in ("one", "many")
    )
    assert one == many
    assert "terms.txt" in one


def test_a_term_may_stand_more_often_than_a_byte_can_count(tmp_path: Path) -> None:
    (hit,) = ranked(tmp_path, ["cat " * 300], "cat")
    idf = math.log(1 + 0.5 / 1.5)
    assert hit.score == pytest.approx(idf * 300 / (300 + K1), rel=EXACT)


@pytest.mark.parametrize("texts", [[], [""], ["", "!"]])
def test_a_corpus_without_terms_is_an_index_that_finds_nothing(
    tmp_path: Path, texts: list[str]
) -> None:
    assert ranked(tmp_path, texts, "cat") == ()


# From the table of field norms in tantivy's source, which it shares with Lucene.
@pytest.mark.parametrize(
    ("length", "kept"),
    [(0, 0), (39, 39), (41, 40), (42, 42), (57, 56), (60, 60), (215, 200), (216, 216), (1000, 984)],
)
def test_lengths_are_rounded_as_lucene_keeps_them(length: int, kept: int) -> None:
    assert lucene_length(np.array([length])).tolist() == [kept]


@pytest.mark.parametrize(
    ("language", "question", "expected"),
    [
        ("zh-Hant-TW", "台北", "d0"),
        ("ko", "수도", "d1"),
        ("ja", "東京", "d2"),
        ("sl", "Sloveniji", "d3"),
        ("de", "Häuser", "d4"),
    ],
)
def test_the_analyzer_is_that_of_the_language(
    tmp_path: Path, language: str, question: str, expected: str
) -> None:
    texts = "臺北市和台北", "서울은 한국의 수도이다", "大東京都", "Slovenija", "Das Haus des Kindes"
    retriever = build(composed("retriever", f"language={language}"), "retriever")
    assert ids(ask(opened(retriever, documents(texts), tmp_path), question, 1)) == [expected]


def test_scifact_gives_the_numbers_of_anserini(tmp_path: Path, shared_data: Path) -> None:
    """Its BM25 flat of BEIR v1.0.0: nDCG@10 .6789, recall@100 .9253, of 1000 hits."""
    folder = shared_data / "scifact"
    indexed = [
        document(row["_id"], f"{row['title']} {row['text']}")
        for _, row in read_lines(folder / "corpus.jsonl")
    ]
    queries = {row["_id"]: row["text"] for _, row in read_lines(folder / "queries.jsonl")}
    gold: dict[str, set[str]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            gold.setdefault(row["query-id"], set()).add(row["corpus-id"])
    english = build(composed("retriever", "benchmark.language=en"), "retriever")
    searcher = opened(english, indexed, tmp_path)
    gains, recalls = [], []
    for question, relevant in gold.items():
        found = ids(ask(searcher, queries[question], 1000))
        gain = sum(1 / math.log2(i + 2) for i, d in enumerate(found[:10]) if d in relevant)
        ideal = sum(1 / math.log2(i + 2) for i in range(min(10, len(relevant))))
        gains.append(gain / ideal)
        recalls.append(len(relevant & set(found[:100])) / len(relevant))
    assert round(sum(gains) / len(gains), 4) == 0.6789
    assert round(sum(recalls) / len(recalls), 4) == 0.9253


def test_lengths_are_rounded_for_a_language_and_all_its_regions(tmp_path: Path) -> None:
    def scores(language: str, name: str, lucene: tuple[str, ...]) -> list[float]:
        retriever = BM25(0.9, 0.4, language, analyzer="words", lucene_lengths=lucene)
        texts = ["cat " + "dog " * 40, "cat " + "dog " * 41]
        documents = [Document(str(n), text, "s", str(n), False) for n, text in enumerate(texts)]
        (tmp_path / name).mkdir()
        retriever.index(documents, tmp_path / name, tmp_path)
        (found,) = retriever.open(tmp_path / name).search([Query("cat")], 2, Stopwatch())
        return [hit.score for hit in found]

    exact = scores("ko-KR", "exact", ())
    rounded = [scores("ko-KR", f"rounded{n}", each) for n, each in enumerate([("ko",), ("ko-KR",)])]
    assert rounded[0] == rounded[1] != exact
    # 41 and 42 tokens: Lucene keeps 40 and 42.
    assert exact[0] > exact[1]
