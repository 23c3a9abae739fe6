"""Rankings are those of a full sort, rounded alike everywhere; a dense retriever end to end."""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.ranking import BITS, best, kth_best, rounded_scores
from bears.retrieval.stores.memory import Memory
from tests.retrieving import ask, documents, opened
from tests.workspace import ROOT, Workspace

EXACT = 2.0**-BITS
"""Relative error of a rounded score."""


INDEX = """
import sys
from pathlib import Path
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.stores.memory import Memory
from tests.retrieving import ask, documents, opened
texts = ["臺北市的天氣", "The weather in London", "東京タワー", "서울은 한국의 수도이다"] * 5
for name, retriever in {"a": BM25(0.9, 0.4, analyzer="cjk-bigrams"),
                        "b": BM25(0.9, 0.4, analyzer="jieba"),
                        "c": Dense(WordLlama(256), Memory())}.items():
    print(ask(opened(retriever, documents(texts), Path(sys.argv[1]) / name), "臺北 weather", 9))
"""


def indexed_elsewhere(folder: Path, **variables: str) -> str:
    """Index and search in a process of its own; returns the rankings it printed."""
    words = [sys.executable, "-c", INDEX, str(folder)]
    return Workspace(ROOT).run(*words, variables={"PYTHONPATH": str(ROOT), **variables})


@pytest.mark.slow
def test_an_index_is_the_same_bytes_in_every_process_and_needs_no_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    one = indexed_elsewhere(tmp_path / "one", PYTHONHASHSEED="1")
    # Nothing is cached at home and no hub answers: the weights come from the package.
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(home / "hub")}
    two = indexed_elsewhere(tmp_path / "two", PYTHONHASHSEED="2", HOME=str(home), **nowhere)
    assert one == two
    files, others = (
        # Kept vectors are in a file of their own for each run.
        {n: b for n, b in Workspace(tmp_path / run).bytes_below(".").items() if "vectors" not in n}
        for run in ("one", "two")
    )
    assert files == others
    assert {"a", "b", "c"} <= {Path(name).parts[0] for name in files}
    assert not [path for path in home.rglob("*") if path.is_file()]


def test_wordllama_finds_what_means_the_same(tmp_path: Path) -> None:
    texts = [
        "The kitten sleeps on the sofa.",
        "Paris is the largest town of the French Republic.",
        "Mix flour, water and yeast, then put the dough into the oven.",
        "She drove her car down the road.",
    ]
    questions = ("a young cat", "the capital of France?", "how to bake bread", "a vehicle")
    searcher = opened(Dense(WordLlama(256), Memory()), documents(texts), tmp_path)
    for number, question in enumerate(questions):
        ranking = ask(searcher, question)
        assert ranking[0].doc_id == f"d{number}"
        assert all(-1 - EXACT <= hit.score <= 1 + EXACT for hit in ranking)


@pytest.mark.parametrize("values", [2, 1000, 10**9])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_kth_best_is_that_of_a_full_sort(values: int, kind: type[np.floating[Any]]) -> None:
    chance = np.random.default_rng(values)
    for n in (3, 7, 4097, 30_000, 30_001):
        scores = chance.integers(0, values, n).astype(kind)
        scores[chance.random(n) < 0.1] = -np.inf
        falling = -np.sort(-scores)
        for k in {1, 2, n // 3, n // 80, n} - {0}:
            assert kth_best(scores, k) == falling[k - 1]


def test_the_best_are_those_of_a_full_sort() -> None:
    chance = random.Random(7)
    for _ in range(300):
        n = chance.randint(1, 40)
        levels = chance.choice([1, 2, 5, 1000])
        scores = [chance.choice([chance.randrange(levels) / 7, -math.inf]) for _ in range(n)]
        names = [f"d{i}" for i in chance.sample(range(1000), n)]
        k = chance.randint(1, 50)
        pairs = zip(rounded_scores(np.array(scores)).tolist(), names, strict=True)
        expected = sorted((pair for pair in pairs if pair[0] > -math.inf), reverse=True)[:k]
        assert [(hit.score, hit.doc_id) for hit in best(np.array(scores), names, k)] == expected
        # The same ids among others and in another order, with their places.
        places = chance.sample(range(60), n)
        among = ["another"] * 60
        for place, name in zip(places, names, strict=True):
            among[place] = name
        found = best(np.array(scores), among, k, np.array(places))
        assert [(hit.score, hit.doc_id) for hit in found] == expected


FLOATS = st.floats(min_value=-1e30, max_value=1e30, allow_subnormal=False).filter(
    lambda x: x == 0 or abs(x) > 1e-30
)


@given(FLOATS)
def test_a_rounded_score_is_exact_in_32_bits_and_close(score: float) -> None:
    (rounded,) = rounded_scores(np.array([score])).tolist()
    assert float(np.float32(rounded)) == rounded
    assert rounded == pytest.approx(score, rel=EXACT, abs=0)
    assert rounded_scores(np.array([rounded])).tolist() == [rounded]


@given(st.lists(FLOATS, min_size=2))
def test_rounding_never_turns_an_order_round(scores: list[float]) -> None:
    rounded = rounded_scores(np.array(sorted(scores)))
    assert (np.diff(rounded) >= 0).all()


def test_the_last_bit_of_another_processor_changes_nothing() -> None:
    score = 0.1 + 0.2
    neighbours = np.array([score, np.nextafter(score, 0), np.nextafter(score, 1)])
    assert len(set(rounded_scores(neighbours).tolist())) == 1
