"""Judged answers as people read them: a row a question, and a table of what they come to."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from bears.formats.spreadsheet import write_csv
from bears.judging.causes import CAUSES
from bears.judging.judged import JudgedQuestion

HEADER = (
    *("question_id", "source_dataset", "question_type", "question", "gold_answers", "answer"),
    *("verdict", "reason", "answer_f1", "exact_match", "evidence_f1", "cause"),
    *("n_gold", "gold_shown", "gold_cut", "gold_not_retrieved", "cited_not_given", "flags"),
)


def write_judged(path: Path, rows: Sequence[JudgedQuestion]) -> None:
    """One row a question, empty where a value is undefined."""
    write_csv(path, HEADER, (_cells(row) for row in rows))


def _cells(row: JudgedQuestion) -> list[Any]:
    question, ruling, stops = row.question, row.ruling, list(row.gold_places.values())
    return [
        *(question.question_id, question.source_dataset, question.question_type),
        *(question.question, " / ".join(row.case.golds), row.case.answer),
        *((ruling.verdict, ruling.reason) if ruling else (None, None)),
        *(row.score.answer_f1, row.score.exact_match, row.score.evidence_f1, row.cause),
        *(len(stops), stops.count("reader") + stops.count("cut"), stops.count("cut")),
        *(stops.count("not_retrieved"), row.cited_not_given, ";".join(row.flags)),
    ]


def table(results: Mapping[str, Any]) -> str:
    """A row for each figure and cause, a column for each group of questions."""
    groups = {"all": results["all"], **results["by_type"], **results["by_source"]}
    names = [name for name in results["all"] if name not in ("pass_bounds", "causes")]
    rows = [[name, *(_cell(group[name]) for group in groups.values())] for name in names]
    bounds = [group["pass_bounds"] for group in groups.values()]
    shown = ["–" if pair is None else "{:.3f}–{:.3f}".format(*pair) for pair in bounds]
    rows.insert(names.index("pass_rate") + 1, ["pass_bounds", *shown])
    for cause in CAUSES:
        if cause in results["all"]["causes"]:
            counts = (group["causes"].get(cause, 0) for group in groups.values())
            rows.append([f"cause: {cause}", *map(str, counts)])
    align = ("left", *("right" for _ in groups))
    return tabulate(rows, headers=["", *groups], colalign=align, disable_numparse=True)


def _cell(value: float | None) -> str:
    if value is None:
        return "–"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
