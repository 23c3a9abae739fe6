"""Judged answers for people: a row for each question, and a table of the means."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate
from typing_extensions import TypedDict

from bears.answers.judging.causes import CAUSES
from bears.answers.judging.judged import JudgedQuestion
from bears.evaluation.table import groups_in
from bears.files.benchmark_state import heading
from bears.files.spreadsheet import write_csv

Group = dict[str, float | list[float] | dict[str, int] | None]


class AnswerResults(TypedDict):
    """The part of metrics/answers.json that is printed."""

    all: Group
    by_type: dict[str, Group]
    by_source: dict[str, Group]
    by_answer_type: dict[str, dict[str, float | None]]


HEADER = (
    *(
        "question_id",
        "source_dataset",
        "question_type",
        "cluster",
        "question",
        "gold_answers",
        "answer",
    ),
    *("verdict", "reason", "answer_f1", "exact_match", "evidence_f1", "cause"),
    *("n_gold", "gold_shown", "gold_cut", "gold_not_retrieved", "cited_not_given", "flags"),
)


def write_judged(path: Path, rows: Sequence[JudgedQuestion]) -> None:
    """Write a row for each question; a cell is empty if its value is undefined."""
    write_csv(path, HEADER, (_cells(row) for row in rows))


def _cells(row: JudgedQuestion) -> list[Any]:
    question, ruling, places = row.question, row.ruling, row.places
    return [
        *(question.question_id, question.source_dataset, question.question_type, row.cluster),
        *(question.question, " / ".join(row.case.golds), row.case.answer),
        *((ruling.verdict, ruling.reason) if ruling else (None, None)),
        *(row.score.answer_f1, row.score.exact_match, row.score.evidence_f1, row.cause),
        *(len(places), places.count("reader") + places.count("cut"), places.count("cut")),
        *(places.count("not_retrieved"), row.trace.cited_not_given, ";".join(row.flags)),
    ]


def table(results: Mapping[str, Any]) -> str:
    """Return a row for each figure and cause with a column for each group; then types of answers.

    Args:
        results: the content of metrics/answers.json, as `AnswerResults` has it. The heading is
            left out if they do not name their benchmark.
    """
    groups = {"all": results["all"], **groups_in(results)}
    names = [name for name, value in results["all"].items() if not isinstance(value, dict)]
    rows = [[name, *(_cell(group.get(name)) for group in groups.values())] for name in names]
    causes = [group.get("causes") or {} for group in groups.values()]
    rows += [
        [f"cause: {cause}", *(str(counts.get(cause, 0)) for counts in causes)]
        for cause in CAUSES
        if cause in causes[0]
    ]
    align = ("left", *("right" for _ in groups))
    parts = [_heading(results)] if "benchmark" in results else []
    parts.append(tabulate(rows, headers=["", *groups], colalign=align, disable_numparse=True))
    scores = ("n", "answer_f1", "exact_match")
    if kinds := results["by_answer_type"]:
        typed = [[kind, *map(own.get, scores)] for kind, own in kinds.items()]
        headers = ["type of the best reference", *scores]
        parts.append(tabulate(typed, headers, floatfmt=".3f", missingval="–"))
    return "\n\n".join(parts)


def _heading(results: Mapping[str, Any]) -> str:
    """Name the generator, its documents, the judge and the benchmark."""
    words = ("retriever", "context", "within", "judge")
    known = ", ".join(f"{word} {results[word]}" for word in words if results.get(word))
    return heading(results["benchmark"], f"{results.get('generator', '')} ({known})")


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return "–".join(f"{end:.3f}" for end in value)
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
