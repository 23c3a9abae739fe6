"""Score a large run with ours, ranx, pytrec_eval and ir_measures, in one process.

    python -m benchmarks.scoring [questions] [documents]

A run file is made first: 10,000 questions × 1,000 documents by default (430 MB).

"read" goes from that file to what the tool scores, with the tool's own reader; "score" is ten
metrics with the value of each question kept, the best of three; "from dict" is the same from
``question: {doc_id: score}``, and "ratio" that of its clock to pytrec_eval's. Seconds on the clock,
and in brackets those of the processor, which other programs disturb less. The values are compared
with ours.
"""

from __future__ import annotations

import gc
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from tabulate import tabulate

from bears.evaluation.evaluate import evaluate, parse_measure
from bears.files.trec import read_table, scored_run

POOL = 100_000
JUDGED = 10
Scores = dict[str, dict[str, float]]
Gold = dict[str, dict[str, int]]
PerQuestion = Mapping[str, Mapping[str, float]]
"""Our name of a measure, to question, to value."""

NAMES = {
    "success@1": ("hit_rate@1", "success_1", "Success@1"),
    "success@10": ("hit_rate@10", "success_10", "Success@10"),
    "recall@10": ("recall@10", "recall_10", "R@10"),
    "recall@100": ("recall@100", "recall_100", "R@100"),
    "precision@10": ("precision@10", "P_10", "P@10"),
    "r_precision": ("r-precision", "Rprec", "Rprec"),
    "mrr": ("mrr", "recip_rank", "RR"),
    "ndcg@10": ("ndcg@10", "ndcg_cut_10", "nDCG@10"),
    "ndcg": ("ndcg", "ndcg", "nDCG"),
    "map": ("map", "map", "AP"),
}
"""Our name, and those of ranx, pytrec_eval and ir_measures."""


@dataclass(frozen=True, order=True)
class Seconds:
    """How long a call took."""

    clock: float = 0
    processor: float = 0

    def __add__(self, other: Seconds) -> Seconds:
        return Seconds(self.clock + other.clock, self.processor + other.processor)

    def __str__(self) -> str:
        return f"{self.clock:.2f} ({self.processor:.2f})"


@dataclass
class Timing:
    """What one tool needed, and what it found."""

    tool: str
    read: Seconds = Seconds()
    score: Seconds = Seconds()
    whole: Seconds = Seconds()
    values: PerQuestion = field(default_factory=dict)


def make(path: Path, questions: int, documents: int) -> Gold:
    """Write a run without ties and return its gold: half of it in the run, grades 0 to 2."""
    dice = np.random.default_rng(1)
    gold: Gold = {}
    with path.open("w") as stream:
        for question in range(questions):
            found = dice.choice(POOL, documents, replace=False)
            # Exact in 32 bits, which is what pytrec_eval keeps of a score.
            scores = np.sort(dice.choice(1 << 20, documents, replace=False))[::-1] / 1024
            stream.writelines(
                f"q{question} Q0 d{doc_id:06d} {rank} {score!r} tag\n"
                for rank, (doc_id, score) in enumerate(
                    zip(found.tolist(), scores.tolist(), strict=True), start=1
                )
            )
            judged = [*dice.choice(found, JUDGED // 2, replace=False), *dice.choice(POOL, 5)]
            grades = [1, *dice.integers(0, 3, len(judged) - 1).tolist()]
            gold[f"q{question}"] = {
                f"d{doc_id:06d}": grade for doc_id, grade in zip(judged, grades, strict=True)
            }
    return gold


def ours(path: Path, scores: Scores, gold: Gold) -> Timing:
    """Score with `read_table` and with `scored_run`, and `evaluate` on what they give."""
    timing = Timing("ours")
    measures = [parse_measure(name) for name in NAMES]
    timing.read, table = timed(lambda: read_table(path, gold))
    timing.score, evaluation = best(lambda: evaluate(table, gold, measures))
    timing.whole, other = best(lambda: evaluate(scored_run(scores), gold, measures))
    timing.values = {
        name: dict(zip(gold, values.tolist(), strict=True))
        for name, values in evaluation.values.items()
    }
    assert all(np.array_equal(other.values[name], evaluation.values[name]) for name in NAMES)
    return timing


def ranx(path: Path, scores: Scores, gold: Gold) -> Timing:
    """Score with ranx, compiled on a small run first, which is not counted."""
    import ranx

    names = [names[0] for names in NAMES.values()]
    small = {question_id: scores[question_id] for question_id in list(scores)[:20]}
    some = {question_id: gold[question_id] for question_id in small}
    ranx.evaluate(ranx.Qrels(some), ranx.Run(small), names)
    timing = Timing("ranx")
    # A grade of 0 is not a grade there.
    qrels = ranx.Qrels({q: {d: g for d, g in row.items() if g} for q, row in gold.items()})
    convert, run = timed(lambda: ranx.Run(scores))
    timing.score, _ = best(lambda: ranx.evaluate(qrels, run, names))
    timing.whole = convert + timing.score
    timing.values = {name: dict(run.scores[theirs[0]]) for name, theirs in NAMES.items()}
    timing.read, _ = timed(lambda: ranx.Run.from_file(str(path), kind="trec"))
    return timing


def pytrec_eval(path: Path, scores: Scores, gold: Gold) -> Timing:
    """Score with pytrec_eval, whose C code reads the dictionary itself."""
    import pytrec_eval

    def read() -> Any:
        with path.open() as stream:
            return pytrec_eval.parse_run(stream)

    timing = Timing("pytrec_eval")
    timing.read, _ = timed(read)
    asked = {names[1].replace("_cut_", "_cut.") for names in NAMES.values()}
    asked = {name if "cut" in name else dotted(name) for name in asked}
    evaluator = pytrec_eval.RelevanceEvaluator(gold, asked)
    timing.score, values = best(lambda: evaluator.evaluate(scores))
    timing.whole = timing.score
    timing.values = transposed(values, {name: theirs[1] for name, theirs in NAMES.items()})
    return timing


def ir_measures(path: Path, scores: Scores, gold: Gold) -> Timing:
    """Score with ir_measures, which calls pytrec_eval and makes a tuple of each value."""
    import ir_measures

    timing = Timing("ir_measures")
    untyped: Any = ir_measures

    def read() -> Any:
        lines = untyped.read_trec_run(str(path))
        return untyped.util.RunConverter(lines).as_dict_of_dict()

    timing.read, _ = timed(read)
    asked = {name: ir_measures.parse_measure(theirs[2]) for name, theirs in NAMES.items()}
    evaluator = ir_measures.evaluator(list(asked.values()), gold)
    timing.score, values = best(lambda: list(evaluator.iter_calc(scores)))
    timing.whole = timing.score
    by_measure: dict[Any, dict[str, float]] = {}
    for value in values:
        by_measure.setdefault(value.measure, {})[value.query_id] = value.value
    timing.values = {name: by_measure[measure] for name, measure in asked.items()}
    return timing


def dotted(name: str) -> str:
    """Return the name that pytrec_eval expects, ``P.10`` for ``P_10``."""
    word, _, k = name.rpartition("_")
    return f"{word}.{k}" if k.isdigit() else name


def transposed(rows: Mapping[str, Mapping[str, Any]], names: Mapping[str, str]) -> PerQuestion:
    """Return measure to question to value, from question to measure to value."""
    return {
        name: {question_id: row[theirs] for question_id, row in rows.items()}
        for name, theirs in names.items()
    }


def timed(call: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Return how long one call took, and its result."""
    gc.collect()
    clock, processor = perf_counter(), process_time()
    result = call()
    return Seconds(perf_counter() - clock, process_time() - processor), result


def best(call: Callable[[], Any]) -> tuple[Seconds, Any]:
    """Return the fastest of three calls."""
    return min((timed(call) for _ in range(3)), key=lambda pair: pair[0])


def greatest_difference(mine: PerQuestion, theirs: PerQuestion) -> float:
    """Return the largest difference over all measures and questions."""
    return max(
        abs(value - theirs[name][question_id])
        for name, row in mine.items()
        for question_id, value in row.items()
    )


def main(questions: int = 10_000, documents: int = 1_000) -> None:
    """Print one row for each tool."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.trec"
        gold = make(path, questions, documents)
        scores: Scores = {}
        for question_id, ranking in read_table(path, gold).rankings().items():
            scores[question_id] = {hit.doc_id: hit.score for hit in ranking}
        timings = [tool(path, scores, gold) for tool in (ours, pytrec_eval, ir_measures, ranx)]
    rows = [
        [
            timing.tool,
            timing.read,
            timing.score,
            timing.whole,
            f"{timing.whole.clock / timings[1].whole.clock:.2f}",
            f"{greatest_difference(timings[0].values, timing.values):.0e}",
        ]
        for timing in timings
    ]
    print(f"{questions} questions × {documents} documents, {len(NAMES)} metrics, seconds")
    headers = ["tool", "read", "score", "from dict", "ratio", "greatest difference"]
    print(tabulate(rows, headers=headers, disable_numparse=True))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
