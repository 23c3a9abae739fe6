"""The results table of PandaChat-RAG, as its authors publish it."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.records import problems_of, read_json, to_json
from bears.files.shown import markdown_table
from bears.publishing.leaderboard.board import number
from bears.publishing.leaderboard.row import LeaderboardRow

Row = TypedDict(
    "Row",
    {
        "eval_scenario": str,
        "system": str,
        "evaluated-top-k": int,
        "time_per_question (s)": float | None,
        "correct_retrieval_count": int | None,
        "correct_retrieval_per": float | None,
        "correct_in_documents_count": int,
        "correct_in_documents_per": float,
        "source": str,
        "state": str,
        "configuration": str,
    },
)
"""As published, and five columns of ours. ``correct_retrieval`` looks at the first k sources of a
list as it was submitted, which may name a document twice; it is not known of a retriever whose run
has each document once although it searched chunks. ``correct_in_documents`` looks at the first k
different documents, which is known of all. The last three tell rows apart as the leaderboard
does."""

COLUMNS = tuple(Row.__annotations__)
Row.__pydantic_config__ = ConfigDict(extra="forbid", allow_inf_nan=False)  # type: ignore[attr-defined]
KEY = ("eval_scenario", "system", "evaluated-top-k", "source", "state", "configuration")

SCENARIO, TOP = "aqa-sl", 2
"""What the published table calls the 206 Slovenian questions, and its k."""


def row(
    entry: LeaderboardRow,
    scenario: str,
    system: str,
    k: int,
    in_sources: int | None,
    in_documents: int,
    questions: int,
) -> dict[str, Any]:
    """The line of an entry of the leaderboard.

    Args:
        system: as this table calls it.
        in_sources, in_documents: counts of questions; percentages are of all ``questions``.
    """
    percentage = None if in_sources is None else 100 * in_sources / questions
    counts = (in_sources, percentage, in_documents, 100 * in_documents / questions)
    told_apart = (entry.source, entry.state, entry.configuration)
    values = (scenario, system, k, entry.seconds_per_question, *counts, *told_apart)
    return dict(zip(COLUMNS, values, strict=True))


def place(board: Path, benchmark: str) -> Path:
    """Where the table of a benchmark lies, beside the leaderboard, and no other file can."""
    stem = benchmark if benchmark.startswith("pandachat") else f"pandachat-{benchmark}"
    return board.with_name(f"{stem}.json")


def updated(path: Path, rows: Iterable[Mapping[str, Any]]) -> dict[Path, str]:
    """What the table at ``path`` (JSON, and Markdown beside it) holds with ``rows``.

    A row takes the place of the one that is equal in all of `KEY`. Best first, by documents.

    Raises:
        FormatError: the table has other columns.
    """
    table = {tuple(r[name] for name in KEY): r for r in (*_read(path), *rows)}
    ordered = sorted(
        table.values(),
        key=lambda r: (
            r["eval_scenario"],
            r["evaluated-top-k"],
            -r["correct_in_documents_per"],
            tuple(r[name] for name in KEY),
        ),
    )
    cells = [[_cell(r[column]) for column in COLUMNS] for r in ordered]
    markdown = markdown_table(COLUMNS, cells)
    return {path: to_json(ordered) + "\n", path.with_suffix(".md"): markdown}


def _read(path: Path) -> Sequence[Mapping[str, Any]]:
    if not path.exists():
        return []
    try:
        return TypeAdapter(list[Row]).validate_python(read_json(path))
    except ValidationError as error:
        problem = f"expected rows of the columns {', '.join(COLUMNS)}; remove the file"
        raise FormatError(f"{path}: {problems_of(error)}; {problem}") from None


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)
