"""What every retriever is asked alike: the depth, the lowest score."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from bears.config.typed import build
from bears.errors import ConfigurationError
from bears.retrieval.retriever import RetrieveSettings
from bears.types import Hit, Question
from stages import evaluate, retrieve
from tests.desk import Desk
from tests.workspace import Workspace

RANKING = (Hit("a", 3.0), Hit("b", 2.0), Hit("c", -1.0))


@pytest.mark.parametrize(
    ("threshold", "kept"), [(None, "abc"), (2.0, "ab"), (2.5, "a"), (9.0, ""), (-5.0, "abc")]
)
def test_below_the_threshold_nothing_is_kept(threshold: float | None, kept: str) -> None:
    hits = RetrieveSettings(10, threshold, False).kept("a", RANKING)
    assert "".join(hit.doc_id for hit in hits) == kept


@pytest.mark.parametrize(
    ("ignored", "question_id", "kept"),
    [(False, "a", "abc"), (True, "a", "bc"), (True, "c", "ab"), (True, "q", "abc")],
)
def test_a_question_that_is_a_document_does_not_find_itself(
    ignored: bool, question_id: str, kept: str
) -> None:
    settings = RetrieveSettings(2, None, ignored)
    assert "".join(hit.doc_id for hit in settings.kept(question_id, RANKING)) == kept
    ignored_ids = [hit.doc_id for hit in RANKING if settings.ignores(question_id, hit.doc_id)]
    assert bool(ignored_ids) is (kept != "abc")


def test_gold_under_the_questions_own_id_is_not_left_out_in_silence() -> None:
    numbered = [Question(i, "Why?", "", (gold,), "s", "ad-hoc") for i, gold in ("ab", "bb")]
    RetrieveSettings(2, None, ignore_identical_ids=False).check(numbered)
    RetrieveSettings(2, None, ignore_identical_ids=True).check(numbered[:1])
    with pytest.raises(ConfigurationError, match="'b' has the document of that id as its gold"):
        RetrieveSettings(2, None, ignore_identical_ids=True).check(numbered)


FIT = {"depth": 1, "score_threshold": None, "ignore_identical_ids": False}
RETRIEVE = "retriever.RetrieveSettings"


@pytest.mark.parametrize(
    ("name", "setting", "message"),
    [
        (RETRIEVE, FIT | {"depth": 0}, "depth: .*greater than or equal to 1, found 0"),
        (RETRIEVE, FIT | {"score_threshold": "high"}, "score_threshold: .*found 'high'"),
        (RETRIEVE, FIT | {"score_threshold": math.nan}, "score_threshold: .*finite .*found nan"),
        ("sparse.bm25.BM25", {"k1": -0.1}, "k1: .*greater than or equal to 0, found -0.1"),
        ("sparse.bm25.BM25", {"b": 7}, "b: .*less than or equal to 1, found 7"),
        ("sparse.bm25.BM25", {"default": ""}, "default: .*at least 1 item .*found ''"),
        ("sparse.bm25.BM25", {"analyzer": "ngram"}, "analyzer: .*expected one of cjk-.*'ngram'"),
        ("sparse.bm25.BM25", {"analyzers": {"sl": "ngram"}}, "analyzers.sl: .*one of cjk-bi"),
        ("chunking.sentences.Sentences", {"characters": 0}, "characters: .*equal to 1, found 0"),
        ("dense.dense.Dense", {"shard_size": 0}, "shard_size: .*equal to 1, found 0"),
        ("dense.engines.ray_tasks.RayTasks", {"workers": 0}, "workers: .*equal to 1, found 0"),
        ("combined.hybrid.Hybrid", {"window": 0}, "window: .*equal to 1, found 0"),
        ("combined.qdrant_hybrid.QdrantHybrid", {"window": 0}, "window: .*equal to 1, found 0"),
        ("combined.rerank.Reranked", {"depth": 0}, "depth: .*equal to 1, found 0"),
        ("stores.qdrant.Qdrant", {"batch": 0}, "batch: .*equal to 1, found 0"),
        ("stores.qdrant_server.Hnsw", {"m": -1}, "m: .*equal to 0, found -1"),
        ("models.transformer.TransformerEncoder", {"pooling": "average"}, "pooling: .*'cls', 'm"),
        ("models.transformer.TransformerEncoder", {"device": "gpu"}, r"device: .*cuda\|.*'gpu'"),
        ("models.transformer.TransformerEncoder", {"dtype": "half"}, "dtype: .*'float16'.*'half'"),
        ("models.transformer.TransformerEncoder", {"max_length": 2}, "max_length: .*equal to 3"),
        ("models.cross_encoder.CrossEncoder", {"batch_tokens": 0}, "batch_tokens: .*equal to 1"),
    ],
)
def test_what_is_built_says_which_of_its_settings_is_out_of_bounds(
    name: str, setting: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"^(part|vector_store)\.{message}"):
        build({"_target_": f"bears.retrieval.{name}", "name": "of a file", **setting}, "part")


def test_a_threshold_beyond_every_score_answers_nothing(workspace: Workspace) -> None:
    desk, high = Desk(workspace.root, ()), "retrieve.score_threshold=1000"
    files = ["--run", "mine/run.trec", "--within", "mine/within.trec", "--timing", "mine/t.json"]
    desk.stage("retrieve", retrieve.main, high, *files, "--chunks", "mine/run.chunks.parquet")
    outputs = [f"--{name}=mine/{name}" for name in ("questions", "metrics", "curve", "bars")]
    # Without a threshold this is a mistake, most often in the language.
    refused = desk.stage("evaluate", evaluate.main, *files, *outputs, code=1)
    assert "the run has no document for 18 of 18 questions" in refused
    assert "benchmark.language" in refused
    assert not (workspace.root / "mine/metrics").exists()
    desk.stage("evaluate", evaluate.main, high, *files, *outputs)
    means = json.loads(workspace.text("mine/metrics"))["all"]
    assert (means["answered"], means["n"], means["ndcg@10"]) == (0, 18, 0.0)
