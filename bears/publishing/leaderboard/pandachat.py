"""Write the results table of PandaChat-RAG in its authors' format: a view of the leaderboard."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bears.files.records import to_json
from bears.files.shown import markdown_table
from bears.results.board import number
from bears.results.row import LeaderboardRow

SCENARIO, TOP = "aqa-sl", 2
"""The published table's name for the 206 Slovenian questions, and its k."""
SOURCES, DOCUMENTS = f"retrieval_accuracy@{TOP}", f"success@{TOP}"
"""One counts the first k sources of a submitted list, which may name a document twice; the other
counts the first k different documents. If documents were searched in chunks, only the second one is
known."""


def tables(board: Path, rows: Iterable[LeaderboardRow]) -> dict[Path, str]:
    """Return the files, beside the leaderboard, for each benchmark measured like PandaChat."""
    ours = [row for row in rows if row.questions and row.values.get(DOCUMENTS) is not None]
    files: dict[Path, str] = {}
    for name in sorted({row.benchmark for row in ours if row.values.get(SOURCES) is not None}):
        lines = [_line(row) for row in ours if row.benchmark == name]
        lines.sort(key=lambda line: (-line["correct_in_documents_count"], line["system"]))
        stem = name if name.startswith("pandachat") else f"pandachat-{name}"
        table = [[_cell(value) for value in line.values()] for line in lines]
        files[board.with_name(f"{stem}.json")] = to_json(lines) + "\n"
        files[board.with_name(f"{stem}.md")] = markdown_table(list(lines[0]), table)
    return files


def _line(row: LeaderboardRow) -> dict[str, Any]:
    n, share, per = row.questions or 0, row.values[DOCUMENTS] or 0.0, row.values.get(SOURCES)
    sources = None if per is None else round(per * n / 100)
    documents = round(share * n)
    chunking = "" if row.chunking == "none" else row.chunking
    return {
        "eval_scenario": SCENARIO,
        # The table's authors name systems by embedding model and vector store.
        "system": " / ".join(filter(None, (row.system, row.vector_store, chunking))),
        "evaluated-top-k": TOP,
        "time_per_question (s)": row.seconds_per_question,
        "correct_retrieval_count": sources,
        "correct_retrieval_per": None if sources is None else 100 * sources / n,
        "correct_in_documents_count": documents,
        "correct_in_documents_per": 100 * documents / n,
        "source": row.source,
        "state": row.state,
        "configuration": row.configuration,
    }


def _cell(value: Any) -> str:
    return number(value) if isinstance(value, float) or value is None else str(value)
