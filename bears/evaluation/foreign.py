"""Measures of ir_measures that are not among ours (MacAvaney, Macdonald and Ounis, ECIR 2022)."""

import math
from contextlib import redirect_stderr
from dataclasses import dataclass
from functools import cache, partial
from io import StringIO
from typing import Any

import numpy as np

from bears.errors import ConfigurationError, FormatError
from bears.evaluation.metric import Floats, Metric
from bears.evaluation.tie_bounds import Gold
from bears.files.trec import RunTable, ScoredRun


@dataclass(frozen=True)
class NumberedRun:
    """A run and the judgements of its questions, as ir_measures reads them.

    Questions are named by their numbers, since one of its programs, gdeval, reads only numbers.

    Attributes:
        n: how many questions there are.
        judgements: question to doc_id to grade, for every question of which a document is judged.
            A partially relevant document has 0.
        scores: question to doc_id to score.
    """

    n: int
    judgements: dict[str, dict[str, int]]
    scores: dict[str, dict[str, float]]


def numbered(table: RunTable | ScoredRun, gold: Gold) -> NumberedRun:
    """Return a run and the gold, n questions in the gold's order."""
    number = {question_id: str(place) for place, question_id in enumerate(gold)}
    judged = {
        number[key]: {doc_id: math.floor(grade) for doc_id, grade in grades.items()}
        for key, grades in gold.items()
        if grades
    }
    scores = {number[key]: dict(ranking) for key, ranking in table.rankings().items()}
    return NumberedRun(len(gold), judged, scores)


def canonical(name: str) -> str:
    """Return the name that ir_measures prints for a measure; a name that it lacks stays as it is.

    Where the package needs ``rel`` and none is given, every positive grade is relevant:
    ``RBP(p=.5)`` is ``RBP(p=0.5,rel=1)``.
    """
    found = _parsed(name)
    return name if found is None else str(found)


@cache
def foreign_measure(name: str) -> tuple[Metric, int | None] | None:
    """Return a measure of ir_measures and its cutoff; None if the package lacks it.

    Raises:
        ConfigurationError: the package cannot compute it with these parameters, or without another
            package.
    """
    found = _parsed(name)
    if found is None:
        return None
    grades = {"a": found.params.get("max_rel", 1), "b": found.params.get("min_rel", 0)}
    try:
        # The package checks parameters only when it computes.
        with redirect_stderr(StringIO()):
            _computed(found, NumberedRun(1, {"0": grades}, {"0": {"a": 1.0, "b": 0.0}}))
    except Exception as error:
        raise ConfigurationError(
            f"ir_measures cannot compute {name!r}: {error}; give the parameters that it needs, "
            "such as a cutoff (ERR@20) or the best grade (INST(max_rel=2))"
        ) from None
    metric = Metric(
        name,
        partial(_values, found),
        yes_or_no=found.NAME == "Success",
        gains_by_rank=False,
        reads="judgements",
        best=math.inf,
        summed=type(found.aggregator()).__name__ == "SumAgg",
    )
    return metric, found.params.get("cutoff")


def _parsed(name: str) -> Any:
    """Return the measure of ir_measures that has a name; None if it has none or is missing."""
    try:
        import ir_measures

        found = ir_measures.parse_measure(name)
        pipeline: Any = ir_measures.DefaultPipeline
        if "rel" in found.SUPPORTED_PARAMS and not pipeline.supports(found):
            return found(rel=1) if pipeline.supports(found(rel=1)) else found
    except AssertionError:  # A parameter is wrong, which `foreign_measure` reports.
        return found
    except (ImportError, NameError, TypeError, ValueError):
        return None
    return found


def _values(measure: Any, run: NumberedRun, _: int | None) -> Floats:
    """Return one value per question, NaN where ir_measures has none."""
    try:
        found = _computed(measure, run) if run.judgements else {}
    except Exception as error:
        raise FormatError(
            f"ir_measures cannot compute {measure} of this run: {error}; leave the measure out"
        ) from error
    return np.array([found.get(str(place), math.nan) for place in range(run.n)], np.float64)


def _computed(measure: Any, run: NumberedRun) -> dict[str, float]:
    import ir_measures

    rows = ir_measures.iter_calc([measure], run.judgements, run.scores)
    return {row.query_id: float(row.value) for row in rows}
