"""What is known of one system: its values, its rankings, its answers, what it costs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.files.records import read_lines
from bears.files.spreadsheet import read_named
from bears.files.trec import read_table
from bears.types import Question, Ranking

Values = NDArray[np.float64]


@dataclass(frozen=True)
class SystemFiles:
    """What is known of a system, and where the rest of it lies.

    Args:
        name: what the page calls it.
        run: a TREC run.
        values: measure to values of shape (questions,), in the benchmark's order; NaN: undefined.
        answers: what a generator answered on top of it, and the judgements by question.
        cost: ``p50_ms`` and ``p95_ms`` of a question, ``index_s``, ``index_bytes``, ``usd_low`` and
            ``usd_high`` of a thousand questions; those known.
    """

    name: str
    run: Path
    values: Mapping[str, Values]
    answers: tuple[Path, Path] | None = None
    cost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class System:
    """One system, over the questions of the benchmark; what is not told here is as above.

    Args:
        rankings: question_id to its documents, best first.
        answers: question_id to ``answer``, ``verdict``, ``reason``, ``cause`` and its scores.
    """

    name: str
    values: Mapping[str, Values]
    rankings: Mapping[str, Ranking]
    answers: Mapping[str, Mapping[str, Any]]
    cost: Mapping[str, float]

    def defined(self, measure: str, chosen: NDArray[np.bool_] | None = None) -> list[float]:
        """The values of a measure that are defined, of all questions or of those ``chosen``."""
        values = self.values[measure]
        known = ~np.isnan(values)
        return [float(value) for value in values[known if chosen is None else known & chosen]]


def read_system(files: SystemFiles, questions: Sequence[Question]) -> System:
    """Read one system. Raises FormatError where a file is malformed."""
    ids = {question.question_id for question in questions}
    answers = _answers(*files.answers) if files.answers else {}
    rankings = read_table(files.run, ids, ignore_unknown=True).rankings()
    return System(files.name, files.values, rankings, answers, files.cost)


def _answers(answers: Path, judgements: Path) -> dict[str, dict[str, Any]]:
    header, lines = read_named(judgements)
    if "question_id" not in header:
        raise FormatError(f"{judgements}: no column question_id among {header!r:.80}")
    judged = [row for _, row in lines]
    # Without a generator there is the header alone, and no line of JSON.
    if not judged:
        return {}
    written = {row.get("question_id"): row.get("answer") for _, row in read_lines(answers)}
    return {
        row["question_id"]: {**row, "answer": str(written.get(row["question_id"]) or "")}
        for row in judged
    }
