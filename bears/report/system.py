"""What is known of one system: its values, its rankings, its answers, what it costs."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError
from bears.formats.records import read_lines
from bears.formats.spreadsheet import read_cells
from bears.formats.trec import read_table
from bears.types import Question, Ranking

Values = NDArray[np.float64]
DESCRIBING = ("question_id", "source_dataset", "question_type", "n_gold")
"""Columns of a system's values by question that are no measure."""


@dataclass(frozen=True)
class SystemFiles:
    """Where a system's results lie.

    Args:
        name: what the page calls it.
        run: a TREC run.
        questions: its values by question, as `evaluate` writes them.
        answers: a generator's name to its answers and to their judgements by question.
        cost: what is known of `Cost`.
    """

    name: str
    run: Path
    questions: Path
    answers: Mapping[str, tuple[Path, Path]] = field(default_factory=dict)
    cost: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class System:
    """One system, over the questions of the benchmark in their order.

    Args:
        values: measure to values of shape (questions,); NaN where undefined.
        rankings: question_id to its documents, best first.
        answers: generator to question_id to what is known of the answer.
        cost: ``p50_ms`` and ``p95_ms`` of a question, ``index_s``, ``index_bytes``; those known.
    """

    name: str
    values: Mapping[str, Values]
    rankings: Mapping[str, Ranking]
    answers: Mapping[str, Mapping[str, Mapping[str, Any]]]
    cost: Mapping[str, float]

    def defined(self, measure: str, chosen: NDArray[np.bool_] | None = None) -> list[float]:
        """The values of a measure that are defined, of all questions or of those ``chosen``."""
        values = self.values[measure]
        known = ~np.isnan(values)
        return values[known if chosen is None else known & chosen].tolist()  # type: ignore[no-any-return]


def read_system(files: SystemFiles, questions: Sequence[Question]) -> System:
    """Read one system.

    Raises:
        FormatError: a file is malformed, or is of other questions.
    """
    ids = [question.question_id for question in questions]
    return System(
        files.name,
        _values(files.questions, ids),
        read_table(files.run, ids, ignore_unknown=True).rankings(),
        {name: found for name, paths in files.answers.items() if (found := _answers(*paths))},
        files.cost,
    )


def _values(path: Path, ids: Sequence[str]) -> dict[str, Values]:
    header, rows = _table(path)
    measures = [name for name in header if name not in DESCRIBING]
    if set(rows) != set(ids):
        raise FormatError(
            f"{path} has {len(rows)} questions that are not the {len(ids)} of the benchmark; "
            "run `dvc repro`"
        )
    try:
        return {
            name: np.array([float(rows[each].get(name) or "nan") for each in ids])
            for name in measures
        }
    except ValueError as error:
        raise FormatError(f"{path}: {error}; expected numbers") from None


def _table(path: Path) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Header and rows by question_id."""
    lines: Iterator[tuple[int, list[str]]] = read_cells(path)
    _, header = next(lines, (1, []))
    if header[:1] != ["question_id"]:
        raise FormatError(f"{path}: its first column is {header[:1]}; expected question_id")
    rows = (dict(zip(header, cells, strict=True)) for _, cells in lines)
    return header, {row["question_id"]: row for row in rows}


def _answers(answers: Path, judgements: Path) -> dict[str, dict[str, Any]]:
    """question_id to ``answer``, ``evidence``, ``verdict``, ``reason``, ``cause`` and scores."""
    judged = _table(judgements)[1] if judgements.is_file() else {}
    written = [row for _, row in read_lines(answers)] if answers.is_file() else []
    # A generator that is none leaves a file with nothing but a line end.
    texts = {row["question_id"]: row for row in written if isinstance(row.get("question_id"), str)}
    return {each: {**judged.get(each, {}), **texts.get(each, {})} for each in [*judged, *texts]}
