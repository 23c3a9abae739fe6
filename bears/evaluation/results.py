"""What is kept of an evaluation: means of all and of each group of questions, values, plots."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bears.evaluation.evaluate import (
    Evaluation,
    ceilings,
    defined,
    gold_of,
    intervals,
    summarise,
    tie_range,
    undefined,
)
from bears.evaluation.intervals import share_interval
from bears.evaluation.measure import Measure
from bears.files.spreadsheet import write_csv
from bears.types import Question


def results_of(
    evaluation: Evaluation, questions: Sequence[Question], measures: Sequence[Measure]
) -> dict[str, Any]:
    """Means over all questions and over each group of them, and what to know of those means."""

    def grouped(key: Callable[[Question], str]) -> dict[str, Any]:
        keys = [key(question) for question in questions]
        return {each: summarise(evaluation, np.array(keys) == each) for each in sorted(set(keys))}

    results = {
        "all": {**summarise(evaluation), "answered": evaluation.n_answered},
        "by_type": grouped(lambda question: question.question_type),
        "by_source": grouped(lambda question: question.source_dataset),
        "tie_range": tie_range(evaluation),
        "ceiling": ceilings(gold_of(questions), measures),
        "interval_95": intervals(evaluation, measures),
    }
    counts = undefined(evaluation)
    return {**results, "undefined": counts} if counts else results


def write_values(
    path: Path, evaluations: Mapping[str, Evaluation], questions: Sequence[Question]
) -> None:
    """One row a question: what it is, and its value of each measure, empty where undefined.

    Args:
        path: a CSV file.
        evaluations: what stands before the names of the measures, to the values.
        questions: in the order of the values.
    """
    columns: dict[str, Iterable[Any]] = {
        "question_id": [question.question_id for question in questions],
        "source_dataset": [question.source_dataset for question in questions],
        "question_type": [question.question_type for question in questions],
        "n_gold": [len(question.gold_doc_ids) for question in questions],
    }
    for prefix, evaluation in evaluations.items():
        for name, values in evaluation.values.items():
            cells = (None if math.isnan(value) else value for value in values.tolist())
            columns[f"{prefix}{name}"] = cells
    write_csv(path, list(columns), zip(*columns.values(), strict=True))


def write_plot(
    path: Path,
    header: tuple[str, str],
    points: Mapping[Any, Measure],
    evaluation: Evaluation,
    retriever: str,
) -> None:
    """One row a measure: its mean as a share of the best value, and the ends of its interval.

    Args:
        path: a CSV file.
        header: what the points and the means are called.
        points: what stands at a measure's point, to the measure.
        evaluation: with the values of these measures.
        retriever: what was evaluated, as the legend calls it.
    """
    rows = []
    for point, measure in points.items():
        shares = (defined(evaluation.values[measure.name]) / measure.metric.best).tolist()
        if shares:
            mean = math.fsum(shares) / len(shares)
            rows.append([point, mean, *share_interval(shares), retriever])
    write_csv(path, [*header, "low", "high", "retriever"], rows)
