"""The parquet files of an export are a retrieval task for MTEB."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from bears.cli import main
from bears.evaluation.evaluate import evaluate, gold_of, parse_measure, summarize
from bears.files.records import read_documents, read_questions
from bears.types import Hit
from tests.environments import python_with
from tests.workspace import Workspace

PROGRAM = """
import json, sys
from zlib import crc32

import mteb, numpy as np
from mteb.abstasks.retrieval import AbsTaskRetrieval
from mteb.abstasks.task_metadata import TaskMetadata
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta

unsaid = "date domains task_subtypes license annotations_creators dialect sample_creation"
about = {"type": "Retrieval", "category": "t2t", "modalities": ["text"], "eval_splits": ["test"]}

class Exported(AbsTaskRetrieval):
    metadata = TaskMetadata(
        name="Exported", description="An export.", reference=None, bibtex_citation=None,
        eval_langs=["zho-Hant"], main_score="ndcg_at_10",
        dataset={"path": sys.argv[1], "revision": "main"}, **about, **dict.fromkeys(unsaid.split()),
    )

class Fixed(AbsEncoder):
    mteb_model_meta = ModelMeta.create_empty()
    vectors = {}

    def encode(self, inputs, **ignored):
        texts = [text for batch in inputs for text in batch["text"]]
        for text in texts:
            vector = np.zeros(64, np.float32)
            for pair in zip(text, text[1:]):
                vector[crc32("".join(pair).encode()) % 64] += 1
            self.vectors[text] = vector
        return np.array([self.vectors[text] for text in texts])

(found,) = mteb.evaluate(Fixed(), Exported(), cache=None).task_results
vectors = {text: vector.tolist() for text, vector in Fixed.vectors.items()}
print(json.dumps({"ndcg": found.scores["test"][0]["ndcg_at_10"], "vectors": vectors}))
"""


@pytest.mark.slow
def test_mteb_loads_an_export_and_gets_our_ndcg(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.root)
    out = tmp_path / "out"
    assert main(["export", str(out)]) == 0
    python = python_with(tmp_path / "environment", "mteb==2.26.24", "torch==2.13.0")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    done = subprocess.run([python, "-c", PROGRAM, out], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    questions, documents = read_questions(out / "queries.json"), read_documents(out / "corpus.json")
    unit = {
        text: np.array(vector) / np.linalg.norm(vector) for text, vector in told["vectors"].items()
    }
    run = {
        q.question_id: tuple(
            Hit(d.doc_id, float(unit[q.question] @ unit[d.content.strip()])) for d in documents
        )
        for q in questions
    }
    ranked = {key: tuple(sorted(hits, key=lambda hit: -hit.score)) for key, hits in run.items()}
    means = summarize(evaluate(ranked, gold_of(questions), [parse_measure("ndcg@10")]))
    ours = means["ndcg@10"]
    assert ours is not None
    assert 0.1 < ours < 0.9
    # Theirs is rounded to five digits.
    assert told["ndcg"] == pytest.approx(ours, abs=5.1e-6)
