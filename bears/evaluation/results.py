"""The outputs of an evaluation: values by question, plots, and a table of the means."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

from bears.evaluation.clusters import Clusters, described, share_interval
from bears.evaluation.evaluate import Evaluation, Measure, as_drawn, defined
from bears.files.benchmark_state import heading
from bears.files.headline import GROUPS
from bears.files.spreadsheet import write_csv
from bears.types import Question


def write_values(
    path: Path,
    evaluations: Mapping[str, Evaluation],
    questions: Sequence[Question],
    clusters: Clusters | None = None,
) -> None:
    """Write the table of the values by question, empty if undefined.

    Args:
        evaluations: a prefix of the names of the measures, to the values.
        questions, clusters: as in `write_scores`.
    """
    values = {
        f"{prefix}{name}": column.tolist()
        for prefix, evaluation in evaluations.items()
        for name, column in evaluation.values.items()
    }
    write_scores(path, questions, clusters, values)


def write_scores(
    path: Path,
    questions: Sequence[Question],
    clusters: Clusters | None,
    scores: Mapping[str, Iterable[Any]],
) -> None:
    """Write a row for each question, with what groups it and its scores.

    Args:
        path: a CSV file.
        questions: in the order of the scores; one that has repeats is there for each.
        clusters: of the questions; a column if any two belong together.
        scores: the name of each further column to its cells; None and NaN are empty cells.
    """
    ids = [question.question_id for question in questions]
    columns: dict[str, Iterable[Any]] = {
        "question_id": ids,
        "source_dataset": [question.source_dataset for question in questions],
        "question_type": [question.question_type for question in questions],
        "n_gold": [len(question.gold_doc_ids) for question in questions],
    }
    if any(question.turns for question in questions):
        columns["turn"] = [question.turn for question in questions]
    if any(question.weight > 1 for question in questions):
        columns["weight"] = [question.weight for question in questions]
    of = {} if clusters is None else dict(zip(ids, clusters.tolist(), strict=True))
    if described(np.array([*of.values()], np.int64)):
        columns["cluster"] = [of[question_id] for question_id in ids]
    columns |= scores
    rows = zip(*columns.values(), strict=True)
    write_csv(path, list(columns), ([*map(_defined, row)] for row in rows))


def _defined(cell: Any) -> Any:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def write_plot(
    path: Path,
    header: tuple[str, str],
    points: Mapping[Any, Measure],
    evaluation: Evaluation,
    retriever: str,
    questions: Sequence[Question],
    clusters: Clusters | None = None,
) -> None:
    """Write a row for each measure: its mean as a share of the best value, and its interval.

    Args:
        path: a CSV file. It has no row for a measure whose best value is unknown.
        header: names of the points and of the means.
        points: the label of each point, to its measure.
        evaluation: has the values of these measures.
        retriever: its name in the legend.
        questions, clusters: see `bears.evaluation.evaluate.as_drawn`.
    """
    rows = []
    evaluation, _, clusters = as_drawn(evaluation, questions, clusters)
    for point, measure in points.items():
        column = evaluation.values[measure.name] / measure.metric.best
        if (shares := defined(column).tolist()) and math.isfinite(measure.metric.best):
            mean = math.fsum(shares) / len(shares)
            rows.append([point, mean, *share_interval(column, clusters), retriever])
    write_csv(path, [*header, "low", "high", "retriever"], rows)


def table(results: Mapping[str, Any]) -> str:
    """Return a heading, and a row for each measure with a column for each group of questions.

    A column "within" has the questions that were also asked within their own group of documents;
    a column "source gold" has all questions on the gold without people's decisions.

    Args:
        results: the content of metrics/retrieval.json.
    """
    within = {"within": results["within"]["all"]} if "within" in results else {}
    source = {"source gold": results["source"]} if "source" in results else {}
    groups = {"all": results["all"], **source, **within, **groups_in(results)}
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    names.sort(key=lambda name: name != "n")
    rows = [[name, *(group.get(name) for group in groups.values())] for name in names]
    about = heading(results["benchmark"], results.get("retriever", ""))
    return f"{about}\n\n{in_columns(groups, rows)}"


def in_columns(groups: Collection[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table with a column for each group of questions; a row begins with its name."""
    shown = [[name, *map(_cell, values)] for name, *values in rows]
    align = ("left", *("right" for _ in groups))
    return tabulate(shown, headers=["", *groups], colalign=align, disable_numparse=True)


def groups_in(results: Mapping[str, Any]) -> dict[str, Any]:
    """Return the means of groups of questions, where there are several; one has all questions."""
    several = (results.get(by, {}) for by in GROUPS)
    return {name: means for own in several if len(own) > 1 for name, means in own.items()}


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return "–".join(f"{end:.3f}" for end in value)
    return str(value) if isinstance(value, int) else f"{value:.3f}"
