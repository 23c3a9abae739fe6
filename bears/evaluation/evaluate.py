"""A run against the gold documents: values per question, their means, what ties leave open."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.evaluation.intervals import wilson
from bears.evaluation.judged_rankings import Floats, JudgedRankings, ideal_ranks
from bears.evaluation.measure import Measure
from bears.evaluation.tie_bounds import Gold, relevant, tie_bounds
from bears.files.run_table import RunTable, table_of_run
from bears.types import Question, Run

Columns = Mapping[str, Floats]
"""Name of a measure to its values, shape (n,), of n questions; NaN where undefined."""

TOLERANCE = 1e-12
"""Means that differ by no more than this are the same mean."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """What a run scores, for each of the n questions of the gold, in the gold's order.

    Attributes:
        values: the measures, in the order asked for, ties broken by `bears.files.trec.order`.
        lowest: the same with the documents of equal score in their worst order; unchanged for
            kor_map_official, which a relevant document that moves up may lower.
        highest: the same with the documents of equal score in their best order.
        n_answered: coverage, the questions of the gold for which the run has any document.
    """

    values: Columns
    lowest: Columns
    highest: Columns
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
    question that is not judged is undefined in every measure.

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
    if unknown := [question_id for question_id in table.question_ids if question_id not in gold]:
        shown, more = ", ".join(map(repr, unknown[:3])), len(unknown) - 3
        raise FormatError(
            f"the run has questions that the gold lacks: {shown}"
            + (f" and {more} more" if more > 0 else "")
        )
    own, worst, best = tie_bounds(table, gold)
    values = _columns(own, measures, gold)
    bounded = [measure for measure in measures if measure.metric.gains_by_rank]
    lowest = {**values, **_columns(worst, bounded, gold)}
    highest = {**values, **_columns(best, bounded, gold)}
    return Evaluation(values, lowest, highest, int((own.returned > 0).sum()))


def summarise(
    evaluation: Evaluation, chosen: NDArray[np.bool_] | None = None
) -> dict[str, float | int | None]:
    """Means over the questions that ``chosen``, shape (n,), picks; over all if it is None.

    Returns:
        For each measure its mean over those of the questions for which it is defined, None if
        there are none; ``n``, how many questions there are; and, only when it is not 0,
        ``n_undefined``, for how many of them some measure is undefined.
    """
    picked = slice(None) if chosen is None else chosen
    columns = {name: column[picked] for name, column in evaluation.values.items()}
    lacking = np.logical_or.reduce([np.isnan(column) for column in columns.values()])
    summary = {**_means(columns), "n": len(lacking)}
    return {**summary, "n_undefined": int(lacking.sum())} if lacking.any() else summary


def undefined(evaluation: Evaluation) -> dict[str, int]:
    """For how many questions each measure is undefined, where it is for any."""
    counts = {name: int(np.isnan(column).sum()) for name, column in evaluation.values.items()}
    return {name: count for name, count in counts.items() if count}


def tie_range(evaluation: Evaluation) -> dict[str, dict[str, float]]:
    """Lowest and highest mean over the orders of tied documents, over all questions.

    Returns:
        ``{measure: {"low": …, "high": …}}`` for the measures whose two means differ by more than
        1e-12; empty when ties decide nothing.
    """
    low, high = _means(evaluation.lowest), _means(evaluation.highest)
    return {
        name: {"low": lower, "high": upper}
        for name, lower in low.items()
        if lower is not None and (upper := high[name]) is not None and upper - lower > TOLERANCE
    }


def intervals(evaluation: Evaluation, measures: Sequence[Measure]) -> dict[str, dict[str, float]]:
    """The 95 % Wilson interval of each measure that says yes or no, over all questions.

    Returns:
        ``{measure: {"low": …, "high": …}}``, without a measure that is undefined everywhere.
    """
    ranges = {}
    for measure in measures:
        values = defined(evaluation.values[measure.name])
        if measure.metric.yes_or_no and len(values):
            low, high = wilson(math.fsum(values), len(values))
            ranges[measure.name] = {"low": low, "high": high}
    return ranges


def ceilings(gold: Gold, measures: Sequence[Measure]) -> dict[str, float]:
    """The mean that a perfect run would have, over all questions, where it is below the best value.

    ``strict@2`` cannot reach 1 where questions have three gold documents.
    """
    ideal = ideal_ranks([list(relevant(grades).values()) for grades in gold.values()])
    means = _means(_columns(JudgedRankings(ideal, ideal, ideal.count()), measures, gold))
    return {
        measure.name: mean
        for measure in measures
        if (mean := means[measure.name]) is not None and mean < measure.metric.best - TOLERANCE
    }


def defined(column: Floats) -> Floats:
    """The values of the questions for which there is one."""
    return column[~np.isnan(column)]


def _columns(
    rankings: JudgedRankings, measures: Sequence[Measure], gold: Gold
) -> dict[str, Floats]:
    judged = np.array([grades is not None for grades in gold.values()], np.bool_)
    return {
        measure.name: np.where(judged, measure.values(rankings), np.nan) for measure in measures
    }


def _means(columns: Columns) -> dict[str, float | None]:
    means: dict[str, float | None] = {}
    for name, column in columns.items():
        values = defined(column)
        # fsum rounds once, so that the order of the questions cannot reach the result.
        means[name] = math.fsum(values) / len(values) if len(values) else None
    return means
