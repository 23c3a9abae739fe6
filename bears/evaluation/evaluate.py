"""A run against the gold documents: values per question, their means, what ties leave open."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from bears.errors import FormatError
from bears.evaluation.measure import Measure
from bears.formats.trec import order
from bears.types import Ranking, Run

Values = Mapping[str, float | None]
"""Name of a measure to its value for one question, None where undefined."""

TOLERANCE = 1e-12
"""Means that differ by no more than this are the same mean."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run scores, for each question of the gold, in the gold's order.

    Attributes:
        measures: names of the measures, in the order asked for.
        values: question_id to its values, ties broken by `bears.formats.trec.order`.
        lowest: the same with the documents of equal score in their worst order.
        highest: the same with the documents of equal score in their best order.
        n_answered: coverage, the questions of the gold for which the run has any document.
    """

    measures: tuple[str, ...]
    values: Mapping[str, Values]
    lowest: Mapping[str, Values]
    highest: Mapping[str, Values]
    n_answered: int


def evaluate(
    run: Run, gold: Mapping[str, Mapping[str, int]], measures: Sequence[Measure]
) -> Evaluation:
    """Measure ``run`` on every question of ``gold``.

    A question that the run lacks counts as an empty ranking: 0 in each measure that is defined.
    A question without gold documents is undefined (None) in every measure.

    Args:
        run: question_id to ranking; put in order here, so its own order does not matter.
        gold: question_id to doc_id to grade; a grade of 0 or less says "not relevant".
        measures: what to measure.

    Raises:
        FormatError: the run has a question that is not in the gold, a document twice in one
            question, or a score that is not finite.
    """
    _refuse_unknown(run, gold)
    values: dict[str, Values] = {}
    lowest: dict[str, Values] = {}
    highest: dict[str, Values] = {}
    for question_id, grade_of in gold.items():
        ranking = _ordered(run, question_id)
        grades = [max(grade_of.get(hit.doc_id, 0), 0) for hit in ranking]
        judged = [grade for grade in grade_of.values() if grade > 0]
        own = values[question_id] = _values(grades, judged, measures)
        worst, best = _tie_orders(ranking, grades)
        lowest[question_id] = own if worst == grades else _values(worst, judged, measures)
        highest[question_id] = own if best == grades else _values(best, judged, measures)
    names = tuple(measure.name for measure in measures)
    n_answered = sum(1 for question_id in gold if run.get(question_id))
    return Evaluation(names, values, lowest, highest, n_answered)


def summarise(
    evaluation: Evaluation, question_ids: Collection[str]
) -> dict[str, float | int | None]:
    """Means over ``question_ids``, each question counted once.

    Returns:
        For each measure its mean over those of the questions for which it is defined, None if
        there are none; ``n``, how many questions there are; and, only when it is not 0,
        ``n_undefined``, for how many of them some measure is undefined.

    Raises:
        FormatError: a question was not evaluated.
    """
    asked = set(question_ids)
    if unknown := sorted(asked - evaluation.values.keys()):
        raise FormatError(f"not in the evaluation: {_some(unknown)}")
    rows = [evaluation.values[question_id] for question_id in asked]
    summary: dict[str, float | int | None] = {**_means(rows, evaluation.measures), "n": len(rows)}
    if undefined := sum(1 for row in rows if None in row.values()):
        summary["n_undefined"] = undefined
    return summary


def tie_range(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Lowest and highest mean over the orders of tied documents, over all questions.

    Returns:
        ``{measure: {"low": …, "high": …}}`` for the measures whose two means differ by more than
        1e-12; empty when ties decide nothing.
    """
    low = _means(evaluation.lowest.values(), evaluation.measures)
    high = _means(evaluation.highest.values(), evaluation.measures)
    ranges = {}
    for name in evaluation.measures:
        lower, upper = low[name], high[name]
        if lower is not None and upper is not None and upper - lower > TOLERANCE:
            ranges[name] = {"low": lower, "high": upper}
    return ranges


def _values(grades: list[int], judged: list[int], measures: Sequence[Measure]) -> Values:
    return {measure.name: measure.value(grades, judged) for measure in measures}


def _means(rows: Collection[Values], names: Sequence[str]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name in names:
        defined = [value for row in rows if (value := row[name]) is not None]
        # fsum rounds once, so that the order of the questions cannot reach the result.
        means[name] = math.fsum(defined) / len(defined) if defined else None
    return means


def _tie_orders(ranking: Ranking, grades: list[int]) -> tuple[list[int], list[int]]:
    """The grades in the worst and in the best order that the scores allow.

    Every measure here can only gain when a higher grade moves up, so sorting each group of equal
    scores by grade gives the bounds without trying the orders.
    """
    scores = [hit.score for hit in ranking]
    if len(set(scores)) == len(scores):
        return grades, grades
    worst: list[int] = []
    best: list[int] = []
    for _, group in groupby(zip(scores, grades, strict=True), key=lambda pair: pair[0]):
        ascending = sorted(grade for _, grade in group)
        worst += ascending
        best += reversed(ascending)
    return worst, best


def _ordered(run: Run, question_id: str) -> Ranking:
    try:
        return order(run.get(question_id, ()))
    except FormatError as error:
        raise FormatError(f"question {question_id!r}, {error}") from None


def _refuse_unknown(run: Run, gold: Mapping[str, Mapping[str, int]]) -> None:
    if unknown := [question_id for question_id in run if question_id not in gold]:
        raise FormatError(f"the run has questions that the gold lacks: {_some(unknown)}")


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(each) for each in ids[:3])
    return shown if len(ids) <= 3 else f"{shown} and {len(ids) - 3} more"
