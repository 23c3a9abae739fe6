"""Compare the analyzers of BM25 on a benchmark: measures, speed and vocabulary.

    python -m benchmarks.analyzers ../shared/data/bears-published [ANALYZER ...]

The folder holds queries.json and corpus.json; without names, every analyzer is measured.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from time import perf_counter

from tabulate import tabulate

from bears.evaluation.evaluate import evaluate, parse_measure, summarize
from bears.files.records import read_documents, read_questions
from bears.retrieval.retriever import Query, Stopwatch
from bears.retrieval.sparse.bm25 import BM25
from bears.retrieval.sparse.terms import ANALYZERS

MEASURES = ("ndcg@10", "mrr", "success@1", "recall@5", "recall@10", "strict@10")
SETTINGS = ((0.9, 0.4), (1.2, 0.75), (1.5, 0.75), (2.0, 0.9))


def main(folder: Path, *names: str) -> None:
    """Print one row for each analyzer and setting."""
    rows = [
        [analyzer, k1, b, *_measure(folder, analyzer, k1, b)]
        for analyzer in names or ANALYZERS
        for k1, b in SETTINGS
    ]
    headers = ["analyzer", "k1", "b", *MEASURES, "analyse Mchar/s", "query ms"]
    print(tabulate(rows, headers=headers, floatfmt=".3f"))


def _measure(folder: Path, analyzer: str, k1: float, b: float) -> list[float]:
    questions = read_questions(folder / "queries.json")
    documents = read_documents(folder / "corpus.json")
    analyze = ANALYZERS[analyzer]
    started = perf_counter()
    for document in documents:
        analyze(document.content)
    characters = sum(len(document.content) for document in documents)
    speed = characters / (perf_counter() - started) / 1e6
    retriever = BM25(k1, b, analyzer=analyzer)
    with tempfile.TemporaryDirectory() as index:
        retriever.index(documents, Path(index), Path(index))
        searcher = retriever.open(Path(index))
        started = perf_counter()
        run = {
            q.question_id: searcher.search([Query(q.question)], 100, Stopwatch())[0]
            for q in questions
        }
        milliseconds = (perf_counter() - started) / len(questions) * 1000
    gold = {q.question_id: dict.fromkeys(q.gold_doc_ids, 1) for q in questions}
    evaluation = evaluate(run, gold, [parse_measure(name) for name in MEASURES])
    means = summarize(evaluation)
    return [float(means[name] or 0) for name in MEASURES] + [speed, milliseconds]


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), *sys.argv[2:])
