"""Judged answers for people: a row for each question, and a table of the means."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from tabulate import tabulate

from bears.answers.judging.judged import CAUSES, JudgedQuestion, further_measures
from bears.config.typed import parse
from bears.evaluation.answers.score import MEANS
from bears.evaluation.repeats import PLACES
from bears.evaluation.results import groups_in, in_columns, write_scores
from bears.files.benchmark_state import heading
from bears.files.intake.files import json_value
from bears.files.records import to_json

EMPTY: Mapping[str, Any] = MappingProxyType({})
ITEMS = "items"
"""The column with the graded items, as JSON."""


def write_judged(path: Path, rows: Sequence[JudgedQuestion]) -> None:
    """Write the table of the judged answers; a cell is empty if its value is undefined.

    Each repeat of a question, and each judgement of a repeat, has a row.
    """
    numbers = {name: [getattr(row, name) for row in rows] for name in PLACES}
    columns: dict[str, Sequence[Any]] = {
        **{name: own for name, own in numbers.items() if max(own, default=1) > 1},
        "question": [row.case.question for row in rows],
        "gold_answers": [" / ".join(row.case.golds) for row in rows],
        "answer": [row.case.answer for row in rows],
        "error": ["; ".join(row.faults.values()) for row in rows],
        "verdict": [row.ruling.verdict if row.ruling else None for row in rows],
        "reason": [row.ruling.reason if row.ruling else None for row in rows],
        **{name: [getattr(row.score, value) for row in rows] for name, value in MEANS.items()},
        **further_measures(rows),
        "answer_type": [row.score.type for row in rows],
        ITEMS: [to_json([each.row() for each in row.graded]) for row in rows],
        "cause": [row.cause for row in rows],
        "cited_not_given": [row.trace.cited_not_given for row in rows],
        "injection": [row.injection for row in rows],
    }
    if not any(row.asked for row in rows):
        own = {"question", ITEMS, *further_measures(rows)}
        columns = {name: cells for name, cells in columns.items() if name in own}
    if not any(row.graded for row in rows):
        del columns[ITEMS]
    clusters = np.array([row.cluster for row in rows])
    write_scores(path, [row.question for row in rows], clusters, columns)


def items_in(row: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the graded items in a row of the table. Raises FormatError."""
    text = row.get(ITEMS) or "[]"
    return parse(list[dict[str, str]], json_value(text.encode(), ITEMS), ITEMS)


def table(results: Mapping[str, Any], beside: Mapping[str, Any] = EMPTY) -> str:
    """Return a row for each figure and cause with a column for each group; then types of answers.

    Args:
        results: the content of metrics/answers.json. The heading is left out if they do not name
            their benchmark.
        beside: the figures of other systems, by their names.
    """
    groups = {"all": results["all"], **groups_in(results), **beside}
    names = [name for name, value in results["all"].items() if not isinstance(value, dict)]
    rows = [[name, *(group.get(name) for group in groups.values())] for name in names]
    intervals = results.get("interval_95", {})
    rows += [[f"95 % of {name}", ends] for name, ends in intervals.items()]
    causes = [group.get("causes") or {} for group in groups.values()]
    rows += [
        [f"cause: {cause}", *(counts.get(cause, 0) for counts in causes)]
        for cause in CAUSES
        if cause in causes[0]
    ]
    parts = [_heading(results)] if "benchmark" in results else []
    parts.append(in_columns(groups, rows))
    scores = ("n", "answer_f1", "exact_match")
    if kinds := results["by_answer_type"]:
        typed = [
            [kind, *map(own.get, scores)] for kind, own in {"all": results["all"], **kinds}.items()
        ]
        headers = ["type of the best reference", *scores]
        parts.append(tabulate(typed, headers, floatfmt=".5f", missingval="–"))
    return "\n\n".join(parts)


def _heading(results: Mapping[str, Any]) -> str:
    """Name the generator or the retriever, its documents, the judge and the benchmark."""
    main, *words = ("generator", "retriever", "context", "within", "judge")
    if results.get(main) == "none":
        main, *words = words
    known = ", ".join(f"{word} {results[word]}" for word in words if results.get(word))
    return heading(results["benchmark"], f"{results.get(main, '')} ({known})")
