"""The results table of PandaChat-RAG, as its authors publish it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.formats.records import read_json, write_json, write_text
from bears.leaderboard.board import markdown_table, number

COLUMNS = (
    "eval_scenario",
    "system",
    "evaluated-top-k",
    "time_per_question (s)",
    "correct_retrieval_count",
    "correct_retrieval_per",
    "correct_in_documents_count",
    "correct_in_documents_per",
)
"""As published, and two of ours. ``correct_retrieval`` looks at the first k sources of a list as it
was submitted, which may name a document twice; it is not known of a retriever whose run has each
document once although it searched chunks. ``correct_in_documents`` looks at the first k different
documents, which is known of all."""

SCENARIO, TOP = "aqa-sl", 2
"""What the published table calls the 206 Slovenian questions, and its k."""


def row(
    scenario: str,
    system: str,
    k: int,
    seconds: float | None,
    in_sources: int | None,
    in_documents: int,
    questions: int,
) -> dict[str, Any]:
    """One line of the table; counts are of questions, percentages are of all questions."""
    percentage = None if in_sources is None else 100 * in_sources / questions
    counts = (in_sources, percentage, in_documents, 100 * in_documents / questions)
    return dict(zip(COLUMNS, (scenario, system, k, seconds, *counts), strict=True))


def update(path: Path, rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Put ``rows`` into the table at ``path`` (JSON, and Markdown beside it).

    A row takes the place of the one with its scenario, system and k. Best first, by documents.

    Raises:
        FormatError: the table has other columns.
    """
    before = read_json(path) if path.exists() else []
    if any(set(r) != set(COLUMNS) for r in before):
        raise FormatError(f"{path}: expected the columns {', '.join(COLUMNS)}; remove the file")
    table = {tuple(r[c] for c in COLUMNS[:3]): r for r in (*before, *rows)}
    ordered = sorted(
        table.values(),
        key=lambda r: (
            r["eval_scenario"],
            r["evaluated-top-k"],
            -r["correct_in_documents_per"],
            r["system"],
        ),
    )
    write_json(path, ordered)
    cells = [[_cell(r[column]) for column in COLUMNS] for r in ordered]
    write_text(path.with_suffix(".md"), markdown_table(COLUMNS, cells))
    return ordered


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)
