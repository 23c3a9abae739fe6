"""A second look: which documents move, which scores they get, and what is read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from numpy.typing import NDArray

from bears.config.typed import build
from bears.errors import FormatError, RetrieverUnavailable
from bears.retrieval.combined.rerank import Reranked, StoredTexts, write_texts
from bears.retrieval.cut import Cut
from bears.retrieval.dense.dense import Dense
from bears.retrieval.models.cross_encoder import CrossEncoder
from bears.retrieval.models.wordllama import WordLlama
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.stores.memory import Memory
from bears.types import Document
from tests.retrieving import NO_MODELS, ask, composed, document, opened
from tests.tiny_models import TEXTS, save_xlm_roberta


class Longest:
    """Prefers long texts, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        assert question
        self.asked += texts
        return np.array([len(text) for text in texts], np.float32)

    def cut(self, question: str, texts: Sequence[str]) -> Cut:
        lengths = [len(question + text) for text in texts]
        return Cut.of("reranked pairs", 0, lengths, [0] * len(texts))


def chunks(*texts: tuple[str, str]) -> list[Document]:
    return [document(name, text) for name, text in texts]


# By BM25, "cat" ranks these in this order, without the last, by the share of the word in the
# text. They have 15, 21, 26 and 33 letters.
CATS = chunks(
    ("a1", "cat cat cat cat"),
    ("a2", "cat cat bird bird cat"),
    ("b1", "cat cat a bird in the tree"),
    ("b2", "cat and one more bird in the tree"),
    ("b3", "dog"),
)


def bm25() -> BM25:
    return BM25(0.9, 0.4)


def reranked(
    folder: Path, corpus: Sequence[Document], depth: int, query: str = "cat", k: int = 10
) -> tuple[list[tuple[str, float]], list[str]]:
    """Return ids with scores, and what the model was asked, but for what opening warms it with."""
    longest = Longest()
    ranking = ask(opened(Reranked(bm25(), longest, depth), corpus, folder), query, k)
    assert longest.asked.pop(0) == "warm"
    return [(hit.doc_id, hit.score) for hit in ranking], longest.asked


@pytest.mark.parametrize(
    ("depth", "k", "expected"),
    [
        (1, 10, [("a1", 15), ("a2", 14), ("b1", 13), ("b2", 12)]),
        (2, 10, [("a2", 21), ("a1", 15), ("b1", 14), ("b2", 13)]),
        (3, 10, [("b1", 26), ("a2", 21), ("a1", 15), ("b2", 14)]),
        (4, 10, [("b2", 33), ("b1", 26), ("a2", 21), ("a1", 15)]),
        (9, 10, [("b2", 33), ("b1", 26), ("a2", 21), ("a1", 15)]),
        # What is reranked does not depend on how many are asked for.
        (3, 2, [("b1", 26), ("a2", 21)]),
        (2, 3, [("a2", 21), ("a1", 15), ("b1", 14)]),
    ],
)
def test_the_first_depth_are_reranked_and_the_rest_follow_with_falling_scores(
    tmp_path: Path, depth: int, k: int, expected: list[tuple[str, float]]
) -> None:
    assert reranked(tmp_path, CATS, depth, k=k)[0] == expected


def test_scores_fall_through_ten_thousand_documents(tmp_path: Path) -> None:
    many = chunks(*((f"d{number:05}", "cat") for number in range(10_000)))
    scores = [score for _, score in reranked(tmp_path, many, 1, k=10_000)[0]]
    assert len(scores) == len(set(np.array(scores, np.float32).tolist())) == 10_000
    assert scores == sorted(scores, reverse=True)


def test_a_question_that_finds_nothing_is_not_reranked(tmp_path: Path) -> None:
    assert reranked(tmp_path, CATS, 9, "fish") == ([], [])


def test_the_first_stage_may_be_dense_and_the_time_of_each_stage_is_told(tmp_path: Path) -> None:
    retriever = Reranked(Dense(WordLlama(256), Memory(), shard_size=2), Longest(), 3)
    stopwatch = Stopwatch()
    found = opened(retriever, CATS, tmp_path).search([Query("a cat in a tree")], 5, stopwatch)
    assert [len(ranking) for ranking in found] == [5]
    assert set(stopwatch.seconds) == {"encode", "search", "rerank"}


def test_texts_are_found_by_id_whatever_is_in_them(tmp_path: Path) -> None:
    odd = ["line\nline\r\n", "\u2028 臺北", "", '"quoted"\\', "🐈\x00"]
    documents = chunks(*((f"id {number}/ü", text) for number, text in enumerate(odd)))
    write_texts(documents, tmp_path)
    texts = StoredTexts(tmp_path)
    assert [texts.text(one.doc_id) for one in documents] == odd


def test_an_interrupted_recording_leaves_no_texts(tmp_path: Path) -> None:
    def broken() -> Iterator[Document]:
        yield CATS[0]
        raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        write_texts(broken(), tmp_path)
    assert not list(tmp_path.iterdir())
    with pytest.raises(FormatError, match="no such file"):
        StoredTexts(tmp_path)


def test_the_configuration_puts_the_reranker_over_any_first_stage() -> None:
    config = composed("retriever", "retriever=bge-reranker-v2-m3")
    assert config["first"]["name"] == "bm25"
    assert isinstance(build(config, "retriever"), Reranked)
    word = "retriever@retriever.first=wordllama"
    config = composed("retriever", "retriever=bge-reranker-v2-m3", word)
    assert config["name"] == "bge-reranker-v2-m3"
    assert config["first"]["_target_"] == "bears.retrieval.dense.dense.Dense"
    assert isinstance(build(config, "retriever"), Reranked)


@pytest.fixture(scope="module")
def reranker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch", reason=NO_MODELS)
    head = "XLMRobertaForSequenceClassification"
    return save_xlm_roberta(tmp_path_factory.mktemp("reranker"), 512, head)


def test_a_cross_encoder_scores_pairs_as_its_card_does(reranker: Path) -> None:
    """https://huggingface.co/BAAI/bge-reranker-v2-m3, "Using Huggingface transformers"."""
    torch, transformers = import_module("torch"), import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(reranker)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(reranker).eval()
    texts = [*TEXTS, "long " * 300]
    with torch.no_grad():
        pairs = [["what is panda?", text] for text in texts]
        cut = {"padding": True, "truncation": True, "max_length": 512}
        inputs = tokenizer(pairs, return_tensors="pt", **cut)
        inputs.pop("token_type_ids", None)
        expected = model(**inputs, return_dict=True).logits.view(-1).float().numpy()
    for batch_tokens in (None, 100):
        ours = CrossEncoder(str(reranker), batch_tokens=batch_tokens).scores(
            "what is panda?", texts
        )
        assert ours == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.1


def test_a_long_pair_is_cut_before_the_model_sees_it_and_keeps_its_score(reranker: Path) -> None:
    encoder = CrossEncoder(str(reranker), max_length=40)
    seen = Mock(wraps=encoder._model.predict)
    encoder._model.predict = seen
    long, short = "word and " * 100_000, "word and " * 400
    for pair in ((long, "short"), ("short", long), (long, long)):
        cut = [text if text == "short" else short for text in pair]
        assert encoder.scores(pair[0], [pair[1]]) == encoder.scores(cut[0], [cut[1]])
    pairs = [pair for call in seen.call_args_list for pair in call.args[0]]
    assert max(len(text) for pair in pairs for text in pair) == 4_000


def test_what_a_cross_encoder_does_not_read_of_a_pair_is_counted(reranker: Path) -> None:
    encoder = CrossEncoder(str(reranker), max_length=30)
    long = "flour and other words " * 9
    found = encoder.cut("one", ["short", long])
    assert (found.tokens, found.texts, found.cut) == (30, 2, 1)
    assert found.characters == len("one" + long)
    read = len(long) - found.unread
    whole, same, shorter = encoder.scores("one", [long, long[:read], long[: read - 1]])
    assert whole == pytest.approx(same, abs=1e-6)
    assert whole != pytest.approx(shorter, abs=1e-6)
    assert encoder.cut("one", [long[:read]]).cut == 0


def test_a_model_without_one_output_is_no_reranker(
    reranker: Path, tiny: Path, tmp_path: Path
) -> None:
    transformers = import_module("transformers")
    config = transformers.AutoConfig.from_pretrained(reranker, num_labels=2)
    transformers.AutoModelForSequenceClassification.from_config(config).save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(reranker).save_pretrained(tmp_path)
    with pytest.raises(RetrieverUnavailable, match="has 2 outputs; expected one"):
        CrossEncoder(str(tmp_path)).scores("what?", ["that"])
    with pytest.raises(RetrieverUnavailable, match=r"not in its files, first classifier"):
        CrossEncoder(str(tiny)).scores("what?", ["that"])
