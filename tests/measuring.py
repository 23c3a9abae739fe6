"""Values of measures in the forms that tests write down."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from bears.evaluation.evaluate import Columns, Measure, evaluate, parse_measure
from bears.evaluation.metric import judged_rankings
from bears.evaluation.tie_bounds import Gold as Judged
from bears.files.trec import RunTable, order, read_table, run_writer
from bears.types import Chunk, ChunkHit, Hit, Ranking

Gold = dict[str, dict[str, int]]
Run = dict[str, Ranking]
Scores = dict[str, dict[str, float]]
Values = dict[str, float | None]


def value(name: str, grades: Sequence[int], judged: Sequence[int]) -> float | None:
    """What a measure gives one literal ranking, None where undefined.

    Args:
        name: of the measure.
        grades: the grade of each ranked document, best first, 0 for one that is not relevant.
        judged: the positive grades of all relevant documents, in any order.
    """
    return _plain(parse_measure(name).values(judged_rankings([grades], [judged]))[0])


def correct_retrievals(
    sources: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], k: int
) -> int:
    """Count the questions with a gold document among the first k sources, as PandaChat does."""
    rows = list(map(str, range(len(gold))))
    lists = [tuple(ChunkHit(Chunk(doc_id), 0.0) for doc_id in own) for own in sources]
    wanted: Judged = {row: dict.fromkeys(own, 1) for row, own in zip(rows, gold, strict=True)}
    [measure] = measures(f"retrieval_accuracy@{k}")
    found = evaluate({}, wanted, [measure], chunks=dict(zip(rows, lists, strict=True)))
    return round(float(found.values[measure.name].sum()) / 100)


def table_of_run(run: Run) -> RunTable:
    """Return a run in columns, as its file is read."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.trec"
        with run_writer(path, "tag") as write:
            for question_id, ranking in run.items():
                write(question_id, ranking)
        return read_table(path, None)


def by_question(columns: Columns, question_ids: Iterable[str]) -> dict[str, Values]:
    """Question to measure to value, None where undefined."""
    return {
        question_id: {name: _plain(column[row]) for name, column in columns.items()}
        for row, question_id in enumerate(question_ids)
    }


def measures(*names: str) -> list[Measure]:
    """Return the measures of these names."""
    return [parse_measure(name) for name in names]


def random_case(dice: random.Random, n_questions: int, ties: bool = True) -> tuple[Run, Gold]:
    """Rankings of up to 15 documents, with gold that is partly absent from them.

    pytrec_eval keeps scores in 32 bits; these are exact in them, so that both see the same ties.
    """
    documents = [f"d{n}" for n in range(12)] + ["文件", "\uff21", "\U0001f43b"]
    run: Run = {}
    gold: Gold = {}
    for n in range(n_questions):
        found = dice.sample(documents, dice.randint(1, len(documents)))
        scores = [dice.randint(0, 6) / 4 for _ in found] if ties else range(len(found))
        run[f"q{n}"] = order(map(Hit, found, map(float, scores)))
        judged = dice.sample([*documents, "lost1", "lost2"], dice.randint(1, 8))
        gold[f"q{n}"] = {doc_id: dice.randint(0, 3) for doc_id in judged} | {judged[0]: 1}
    return run, gold


def as_scores(run: Run) -> Scores:
    return {
        question_id: {hit.doc_id: hit.score for hit in ranking}
        for question_id, ranking in run.items()
    }


def _plain(value: float) -> float | None:
    return float(value) if value == value else None
