"""Values of measures in the forms that tests write down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bears.evaluation.evaluate import Columns
from bears.evaluation.judged_rankings import judged_rankings
from bears.evaluation.measure import parse_measure

Values = dict[str, float | None]


def value(name: str, grades: Sequence[int], judged: Sequence[int]) -> float | None:
    """What a measure gives one literal ranking, None where undefined.

    Args:
        name: of the measure.
        grades: the grade of each ranked document, best first, 0 for one that is not relevant.
        judged: the positive grades of all relevant documents, in any order.
    """
    return _plain(parse_measure(name).values(judged_rankings([grades], [judged]))[0])


def by_question(columns: Columns, question_ids: Iterable[str]) -> dict[str, Values]:
    """Question to measure to value, None where undefined."""
    return {
        question_id: {name: _plain(column[row]) for name, column in columns.items()}
        for row, question_id in enumerate(question_ids)
    }


def _plain(value: float) -> float | None:
    return float(value) if value == value else None
