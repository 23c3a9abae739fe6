"""A run against the gold documents: values per question, their means, what ties leave open."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bears.errors import FormatError
from bears.evaluation.interval import wilson
from bears.evaluation.locate import Gold, locate, relevant
from bears.evaluation.measure import Measure
from bears.evaluation.places import Results, ideal_places
from bears.formats.run_table import RunTable, table_of_run
from bears.types import Question, Run

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
        lowest: the same with the documents of equal score in their worst order; unchanged for
            kor_map_official, which a relevant document that moves up may lower.
        highest: the same with the documents of equal score in their best order.
        n_answered: coverage, the questions of the gold for which the run has any document.
    """

    measures: tuple[str, ...]
    values: Mapping[str, Values]
    lowest: Mapping[str, Values]
    highest: Mapping[str, Values]
    n_answered: int


def gold_of(questions: Iterable[Question]) -> Gold:
    """question_id to its grades, None where nobody knows them."""
    return {
        question.question_id: question.grades if question.judged else None for question in questions
    }


def evaluate(run: Run | RunTable, gold: Gold, measures: Sequence[Measure]) -> Evaluation:
    """Measure ``run`` on every question of ``gold``.

    A question that the run lacks counts as an empty ranking. Where nothing is relevant that is
    the right answer, and a measure says in its docstring whether it gives 1 or is undefined. A
    question that is not judged is undefined (None) in every measure.

    Args:
        run: its rankings in columns, or question_id to ranking, which is put in order here.
        gold: question_id to doc_id to grade, of which 0 and less say "not relevant"; None where
            nobody knows.
        measures: what to measure.

    Raises:
        FormatError: the run has a question that is not in the gold, a document twice in one
            question, or a score that is not finite.
    """
    table = run if isinstance(run, RunTable) else table_of_run(run)
    _refuse_unknown(table.question_ids, gold)
    located = locate(table, gold)
    own = _rows(located.own, measures, gold, range(len(gold)))
    bounded = [measure for measure in measures if measure.gains_by_rank]

    def bound(results: Results | None) -> dict[str, Values]:
        rows = _rows(results, bounded, gold, located.tied) if results else {}
        return {question_id: {**own[question_id], **row} for question_id, row in rows.items()}

    names = tuple(measure.name for measure in measures)
    n_answered = int((located.own.returned > 0).sum())
    lowest, highest = {**own, **bound(located.worst)}, {**own, **bound(located.best)}
    return Evaluation(names, own, lowest, highest, n_answered)


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
    rows = _chosen(evaluation, question_ids)
    summary: dict[str, float | int | None] = {**_means(rows, evaluation.measures), "n": len(rows)}
    if undefined := sum(1 for row in rows if None in row.values()):
        summary["n_undefined"] = undefined
    return summary


def undefined(evaluation: Evaluation) -> dict[str, int]:
    """For how many questions each measure is undefined, where it is for any."""
    counts = {
        name: sum(row[name] is None for row in evaluation.values.values())
        for name in evaluation.measures
    }
    return {name: count for name, count in counts.items() if count}


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


def intervals(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, dict[str, float]]:
    """The 95 % Wilson interval of each measure that says yes or no, over all questions.

    Returns:
        ``{measure: {"low": …, "high": …}}``, without a measure that is undefined everywhere.
    """
    ranges = {}
    for name in (measure.name for measure in measures if measure.yes_or_no):
        values = [row[name] for row in evaluation.values.values()]
        defined = [value for value in values if value is not None]
        if defined:
            low, high = wilson(math.fsum(defined), len(defined))
            ranges[name] = {"low": low, "high": high}
    return ranges


def ceilings(gold: Gold, measures: Sequence[Measure]) -> dict[str, float]:
    """The mean that a perfect run would have, over all questions, where it is below the best value.

    ``strict@2`` cannot reach 1 where questions have three gold documents.
    """
    ideal = ideal_places([list(relevant(grades).values()) for grades in gold.values()])
    perfect = Results(ideal, ideal, ideal.count())
    rows = _rows(perfect, measures, gold, range(len(gold)))
    means = _means(rows.values(), [measure.name for measure in measures])
    return {
        measure.name: mean
        for measure in measures
        if (mean := means[measure.name]) is not None and mean < measure.best - TOLERANCE
    }


def _rows(
    results: Results, measures: Sequence[Measure], gold: Gold, numbers: Sequence[int]
) -> dict[str, Values]:
    """The values of the questions of these ``numbers``, counted in the gold's order."""
    question_ids = list(gold)
    unjudged = [number for number, grades in enumerate(gold.values()) if grades is None]
    columns = []
    for measure in measures:
        values = measure.values(results)
        values[unjudged] = np.nan
        chosen = values[numbers]
        column: list[float | None] = chosen.tolist()
        for place in np.flatnonzero(np.isnan(chosen)):
            column[place] = None
        columns.append(column)
    names = [measure.name for measure in measures]
    rows = zip(*columns, strict=True) if columns else (() for _ in numbers)
    return {
        question_ids[number]: dict(zip(names, row, strict=True))
        for number, row in zip(numbers, rows, strict=True)
    }


def _chosen(evaluation: Evaluation, question_ids: Collection[str]) -> list[Values]:
    asked = set(question_ids)
    if unknown := sorted(asked - evaluation.values.keys()):
        raise FormatError(f"not in the evaluation: {_some(unknown)}")
    return [evaluation.values[question_id] for question_id in asked]


def _means(rows: Collection[Values], names: Sequence[str]) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name in names:
        defined = [value for row in rows if (value := row[name]) is not None]
        # fsum rounds once, so that the order of the questions cannot reach the result.
        means[name] = math.fsum(defined) / len(defined) if defined else None
    return means


def _refuse_unknown(question_ids: Sequence[str], gold: Gold) -> None:
    if unknown := [question_id for question_id in question_ids if question_id not in gold]:
        raise FormatError(f"the run has questions that the gold lacks: {_some(unknown)}")


def _some(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(each) for each in ids[:3])
    return shown if len(ids) <= 3 else f"{shown} and {len(ids) - 3} more"
