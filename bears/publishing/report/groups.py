"""The measure that decides, for each type and each source of question."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.evaluation.bootstrap import mean_interval
from bears.publishing.report.charts import intervals
from bears.results.system import System
from bears.types import Question

Looks = Mapping[str, Mapping[str, str]]


def grouped(
    systems: Sequence[System], looks: Looks, questions: Sequence[Question], measure: str
) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return a heading's key, and for each group below it ``name, n, rows`` and its chart, ``svg``.

    ``n`` is the number of judged questions.
    """
    keys: dict[str, list[str]] = {
        "by_type": [question.question_type for question in questions],
        "by_source": [question.source_dataset for question in questions],
    }
    found = []
    for key, of in keys.items():
        groups = []
        for name in sorted(set(of)):
            named = zip(of, questions, strict=True)
            chosen = np.array([each == name and q.judged for each, q in named])
            if rows := list(_rows(systems, chosen, measure)):
                drawn = intervals([{**row, **looks[row["name"]]} for row in rows])
                groups.append({"name": name, "n": int(chosen.sum()), "rows": rows, "svg": drawn})
        found += [(key, groups)] if groups else []
    return found


def _rows(
    systems: Sequence[System], chosen: NDArray[np.bool_], measure: str
) -> Iterator[dict[str, Any]]:
    for system in systems:
        if measure in system.values and (values := system.defined(measure, chosen)):
            low, high = mean_interval(np.array(values))
            mean = sum(values) / len(values)
            yield {"name": system.name, "mean": mean, "low": low, "high": high}
