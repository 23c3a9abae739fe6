"""The scores of rows, and their means with the number of rows without a score."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
HEADER = ("row", "question", *METRICS, "problems")
LOST = "never came"
MISSING = "no kept reply"


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one row by one metric.

    Args:
        row: its place in the file, from 0.
        value: between 0 and 1; None if ragas gave none.
        problem: why ragas gave none.
    """

    row: int
    metric: str
    value: float | None
    problem: str = ""


def summary(scores: Iterable[Score], rows: int) -> dict[str, dict[str, Any]]:
    """Return the mean of each metric over the rows that it scored, and their number.

    A row without a value is not part of the mean; it is counted by its reason. The mean of no
    values is None.
    """
    by_metric: dict[str, dict[int, Score]] = {name: {} for name in METRICS}
    for score in scores:
        by_metric[score.metric][score.row] = score
    return {name: _of_metric(found.values(), rows) for name, found in by_metric.items()}


def _of_metric(scores: Iterable[Score], rows: int) -> dict[str, Any]:
    scores = list(scores)
    values = [score.value for score in scores if score.value is not None]
    unscored = Counter(kind(score.problem) for score in scores if score.value is None)
    unscored[LOST] += rows - len(scores)
    return {
        "mean": math.fsum(values) / len(values) if values else None,
        "n_scored": len(values),
        "n_total": rows,
        "unscored": {reason: n for reason, n in sorted(unscored.items()) if n},
    }


def kind(problem: str) -> str:
    """Name a problem: no reply to a request, NaN, or the error of ragas."""
    error, _, words = problem.partition(": ")
    # Some rows lack what a metric needs. The messages of other errors are too long.
    return words.partition(". ")[0] if error == "ValueError" and len(words) < 120 else error


def cells(scores: Iterable[Score], questions: Sequence[str]) -> list[list[str]]:
    """Return a row of `HEADER` for each question; its place counts from 1."""
    found = {(score.row, score.metric): score for score in scores}
    rows = []
    for place, question in enumerate(questions):
        of_row = [found.get((place, name), Score(place, name, None, LOST)) for name in METRICS]
        values = ["" if each.value is None else f"{each.value:.6f}" for each in of_row]
        problems = [f"{each.metric}: {each.problem:.300}" for each in of_row if each.value is None]
        rows.append([str(place + 1), question, *values, " | ".join(problems)])
    return rows
