"""The results table of PandaChat-RAG, as its authors publish it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.formats.records import read_json, write_json, write_text
from bears.leaderboard.board import markdown_table, number

COLUMNS = (
    "eval_scenario",
    "system",
    "evaluated-top-k",
    "time_per_question (s)",
    "correct_retrieval_count",
    "correct_retrieval_per",
)

SCENARIO, TOP = "aqa-sl", 2
"""What the published table calls the 206 Slovenian questions, and its k."""


def row(
    scenario: str, system: str, k: int, seconds: float | None, correct: int, questions: int
) -> dict[str, Any]:
    """One line of the table; ``correct_retrieval_per`` is a percentage of all questions."""
    percentage = 100 * correct / questions
    return dict(zip(COLUMNS, (scenario, system, k, seconds, correct, percentage), strict=True))


def update(path: Path, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put ``rows`` into the table at ``path`` (JSON, and Markdown beside it).

    A row takes the place of the one with its scenario, system and k. Best first.
    """
    before = read_json(path) if path.exists() else []
    table = {tuple(r[c] for c in COLUMNS[:3]): r for r in (*before, *rows)}
    ordered = sorted(
        table.values(),
        key=lambda r: (
            r["eval_scenario"],
            r["evaluated-top-k"],
            -r["correct_retrieval_per"],
            r["system"],
        ),
    )
    write_json(path, ordered)
    cells = [[_cell(r[column]) for column in COLUMNS] for r in ordered]
    write_text(path.with_suffix(".md"), markdown_table(COLUMNS, cells))
    return ordered


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)
