"""Terms, scores and rankings: against literal texts, a formula by hand, and a full sort."""

from __future__ import annotations

import math
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bears.errors import ConfigurationError, RetrieverUnavailable
from bears.retrieval.analysis import ANALYZERS, cjk_bigrams, segmented, words
from bears.retrieval.bm25 import BM25
from bears.retrieval.dense import DenseSearcher, normalised, write_vectors
from bears.retrieval.retriever import BITS, Retriever, best, rounded_scores
from bears.retrieval.wordllama import WordLlama
from bears.types import Document, Ranking
from tests.workspace import ROOT, Workspace, environment_for

K1, B = 0.9, 0.4
EXACT = 2.0**-BITS
"""Relative error of a rounded score."""


def documents(*texts: str) -> list[Document]:
    return [Document(f"d{i}", text, "drcd", str(i), False) for i, text in enumerate(texts)]


def ranked(
    retriever: Retriever, folder: Path, texts: Sequence[str], question: str, k: int = 10
) -> Ranking:
    folder.mkdir(exist_ok=True)
    retriever.index(documents(*texts), folder)
    return retriever.open(folder).search(question, k)


def ids(ranking: Ranking) -> list[str]:
    return [hit.doc_id for hit in ranking]


def bm25(analyzer: str = "words") -> BM25:
    return BM25("bm25", K1, B, analyzer)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市", ["台", "北", "市", "台北", "北市"]),
        ("Hello, World", ["hello", "world"]),
        ("RAG 檢索增強", ["rag", "檢", "索", "增", "強", "檢索", "索增", "增強"]),
        ("用Python3寫", ["用", "python3", "寫"]),
        ("タワーへ", ["タ", "ワ", "ー", "へ", "タワ", "ワー", "ーへ"]),
        ("서울은", ["서", "울", "은", "서울", "울은"]),
        ("時代、人", ["時", "代", "時代", "人"]),
        ("ＡＢＣ ２０２４年", ["abc", "2024", "年"]),
        ("𠀀𠀁", ["𠀀", "𠀁", "𠀀𠀁"]),
        ("人々", ["人", "々", "人々"]),
        ("。！—", []),
        ("", []),
    ],
)
def test_characters_and_pairs_of_unspaced_scripts_words_of_others(
    text: str, terms: list[str]
) -> None:
    assert cjk_bigrams(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市的天氣", ["台北市的天氣"]),
        ("The café isn't far", ["the", "cafe", "isn", "t", "far"]),
        ("RAG檢索", ["rag", "檢索"]),
        ("東京タワーへ行く", ["東京タワーへ行く"]),
        ("서울은 한국의 수도", ["서울은", "한국의", "수도"]),
        ("snake_case 3.5", ["snake", "case", "3", "5"]),
        ("", []),
    ],
)
def test_whole_runs(text: str, terms: list[str]) -> None:
    assert words(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("臺北市臺灣", ["台北市", "台灣"]),
        ("RAG 檢索增強，很好。", ["rag", "檢索", "增強", "很", "好"]),
        ("Hello, World", ["hello", "world"]),
        ("東京", ["東京"]),
        # Words that have spaces are not for jieba, nor are their accents.
        ("Café Ørsted 在臺北", ["cafe", "ørsted", "在", "台北"]),
        # jieba knows no Korean; for that, cjk-bigrams and words do better.
        ("서울은", ["서", "울", "은"]),
        ("", []),
    ],
)
def test_words_of_jieba(text: str, terms: list[str]) -> None:
    assert segmented(text) == terms


@settings(deadline=None)  # jieba reads its dictionary at the first call
@given(st.text())
def test_no_analyzer_gives_an_empty_term_or_a_space(text: str) -> None:
    for analyze in ANALYZERS.values():
        assert all(term and not any(c.isspace() for c in term) for term in analyze(text))


@given(st.text(st.sampled_from("台北a1 ,。タ서")))
def test_upper_and_full_width_letters_are_the_same_terms(text: str) -> None:
    wide = text.replace("a", "Ａ").replace("1", "１").replace("台", "臺")
    for analyze in (cjk_bigrams, words):
        assert analyze(text) == analyze(wide)


def test_an_unknown_analyzer_lists_the_right_ones() -> None:
    with pytest.raises(ConfigurationError, match="'bigram'; expected one of cjk-bigrams, words"):
        bm25("bigram")


TEXTS = ["cat cat dog", "dog bird", "fish fish fish fish cat"]


def score_by_hand(tf: int, df: int, length: int) -> float:
    """Lucene's BM25 for `TEXTS`. It has no factor (k1 + 1), which would not change an order."""
    n, average = 3, (3 + 2 + 5) / 3
    idf = math.log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + K1 * (1 - B + B * length / average))


def test_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    scores = {hit.doc_id: hit.score for hit in ranked(bm25(), tmp_path, TEXTS, "cat bird")}
    assert scores == pytest.approx(
        {
            "d0": score_by_hand(tf=2, df=2, length=3),
            "d1": score_by_hand(tf=1, df=1, length=2),
            "d2": score_by_hand(tf=1, df=2, length=5),
        },
        rel=EXACT,
    )


def test_a_term_asked_for_twice_counts_twice(tmp_path: Path) -> None:
    (first, *_) = ranked(bm25(), tmp_path, TEXTS, "fish fish")
    assert first.score == pytest.approx(2 * score_by_hand(tf=4, df=1, length=5), rel=EXACT)


def test_a_document_without_a_shared_term_is_left_out(tmp_path: Path) -> None:
    assert ids(ranked(bm25(), tmp_path, TEXTS, "bird unicorn")) == ["d1"]


@pytest.mark.parametrize("question", ["", " ", "？！", "unicorn"])
def test_a_question_that_shares_nothing_finds_nothing(tmp_path: Path, question: str) -> None:
    assert ranked(bm25(), tmp_path, TEXTS, question) == ()


def test_equal_scores_are_ordered_by_descending_id(tmp_path: Path) -> None:
    texts = ["dog", "cat", "cat", "bird", "cat"]
    assert ids(ranked(bm25(), tmp_path, texts, "cat")) == ["d4", "d2", "d1"]
    assert ids(ranked(bm25(), tmp_path, texts, "cat", k=2)) == ["d4", "d2"]


def test_a_depth_beyond_the_corpus_gives_the_whole_corpus(tmp_path: Path) -> None:
    assert ids(ranked(bm25(), tmp_path / "sparse", TEXTS, "cat dog", k=1000)) == ["d0", "d1", "d2"]
    assert len(ranked(WordLlama("wordllama", 256), tmp_path / "dense", TEXTS, "cat", k=1000)) == 3


def test_chinese_is_found_by_every_analyzer(tmp_path: Path) -> None:
    texts = ["貓 在 屋頂上", "台北 是 城市", "魚 在 水裡"]
    for analyzer in ANALYZERS:
        assert ids(ranked(bm25(analyzer), tmp_path / analyzer, texts, "臺北"))[0] == "d1"


INDEX = """
import sys
from pathlib import Path
from bears.retrieval.bm25 import BM25
from bears.retrieval.wordllama import WordLlama
from bears.types import Document
texts = ["臺北市的天氣", "The weather in London", "東京タワー", "서울은 한국의 수도이다"] * 5
documents = [Document(f"d{i}", text, "s", str(i), False) for i, text in enumerate(texts)]
for retriever in (BM25("a", 0.9, 0.4, "cjk-bigrams"), BM25("b", 0.9, 0.4, "jieba"),
                  WordLlama("c", 256)):
    folder = Path(sys.argv[1]) / retriever.name
    folder.mkdir(parents=True)
    retriever.index(documents, folder)
    print([(hit.doc_id, hit.score) for hit in retriever.open(folder).search("臺北 weather", 9)])
"""


def indexed_elsewhere(folder: Path, **variables: str) -> str:
    """Index and search in a process of its own; returns the rankings it printed."""
    environment = {**environment_for(sys.executable), "PYTHONPATH": str(ROOT), **variables}
    done = subprocess.run(
        [sys.executable, "-c", INDEX, str(folder)],
        env=environment,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_index_is_the_same_bytes_in_every_process_and_needs_no_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    one = indexed_elsewhere(tmp_path / "one", PYTHONHASHSEED="1")
    # Nothing is cached at home and no hub answers: the weights come from the package.
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(home / "hub")}
    two = indexed_elsewhere(tmp_path / "two", PYTHONHASHSEED="2", HOME=str(home), **nowhere)
    assert one == two
    files = Workspace(tmp_path / "one").bytes_below(".")
    assert files == Workspace(tmp_path / "two").bytes_below(".")
    assert {Path(name).parts[0] for name in files} == {"a", "b", "c"}
    assert not [path for path in home.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("question", "nearest"),
    [
        ("a young cat", "d0"),
        ("Which city is the capital of France?", "d1"),
        ("how to bake bread", "d2"),
        ("a vehicle with four wheels", "d3"),
    ],
)
def test_wordllama_finds_what_means_the_same(tmp_path: Path, question: str, nearest: str) -> None:
    texts = [
        "The kitten sleeps on the sofa.",
        "Paris is the largest town of the French Republic.",
        "Mix flour, water and yeast, then put the dough into the oven.",
        "She drove her car down the road.",
    ]
    ranking = ranked(WordLlama("wordllama", 256), tmp_path, texts, question)
    assert ids(ranking)[0] == nearest
    assert len(ranking) == len(texts)
    assert all(-1 - EXACT <= hit.score <= 1 + EXACT for hit in ranking)


def test_wordllama_gives_an_empty_question_no_preference(tmp_path: Path) -> None:
    ranking = ranked(WordLlama("wordllama", 256), tmp_path, ["cat", "dog"], "")
    assert [(hit.doc_id, hit.score) for hit in ranking] == [("d1", 0.0), ("d0", 0.0)]


@pytest.mark.parametrize("dimensions", [64, 100])
def test_dimensions_that_the_package_does_not_carry_are_refused(
    tmp_path: Path, dimensions: int
) -> None:
    with pytest.raises(RetrieverUnavailable, match=rf"dimensions is {dimensions}; .* carries 256"):
        WordLlama("wordllama", dimensions).open(tmp_path)


def test_dense_search_is_by_cosine_and_not_by_length(tmp_path: Path) -> None:
    vectors = np.array([[10.0, 10.0], [0.0, 1.0], [0.0, 0.0], [3.0, 0.0]])
    write_vectors(tmp_path, vectors, ["long", "up", "zero", "right"])
    hits = DenseSearcher(tmp_path, lambda _: np.array([2.0, 0.0])).search("right", 4)
    assert [hit.doc_id for hit in hits] == ["right", "long", "zero", "up"]
    assert [hit.score for hit in hits] == pytest.approx([1, math.sqrt(0.5), 0, 0], rel=1e-6)


def test_a_row_of_zeros_stays_one() -> None:
    assert normalised(np.zeros((1, 3), np.float32)).tolist() == [[0.0, 0.0, 0.0]]


def test_the_best_are_those_of_a_full_sort() -> None:
    chance = random.Random(7)
    for _ in range(300):
        n = chance.randint(1, 40)
        levels = chance.choice([1, 2, 5, 1000])
        scores = [chance.choice([chance.randrange(levels) / 7, -math.inf]) for _ in range(n)]
        names = [f"d{i}" for i in chance.sample(range(100), n)]
        k = chance.randint(1, 50)
        pairs = zip(rounded_scores(np.array(scores)).tolist(), names, strict=True)
        expected = sorted((pair for pair in pairs if pair[0] > -math.inf), reverse=True)[:k]
        assert [(hit.score, hit.doc_id) for hit in best(np.array(scores), names, k)] == expected


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


def test_infinities_stay() -> None:
    assert rounded_scores(np.array([-math.inf, math.inf])).tolist() == [-math.inf, math.inf]


@pytest.mark.parametrize("make", [bm25, lambda: WordLlama("wordllama", 256)])
def test_a_retriever_gives_what_it_gave_before(
    tmp_path: Path, make: Callable[[], Retriever]
) -> None:
    first = ranked(make(), tmp_path, TEXTS, "cat")
    assert first == ranked(make(), tmp_path, TEXTS, "cat")
