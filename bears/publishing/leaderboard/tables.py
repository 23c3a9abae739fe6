"""Write the leaderboard's files: the facts as CSV, and tables of them for people."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from bears.files import shown
from bears.files.lock import locked_folder
from bears.files.records import to_json, write_text
from bears.files.shown import markdown_table
from bears.publishing.leaderboard import tables as pandachat
from bears.publishing.leaderboard.standing import Known, derived, known_results, main_of
from bears.results.board import COUNTS, DERIVED, HEADER, board_text, cells, number, read_board
from bears.results.revision import revisions
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


HIDDEN = ("benchmark", "source", "state", *COUNTS[:2], "main")
"""Columns that are in the heading of a table."""


def publish(board: Path, entries: Iterable[LeaderboardRow]) -> str:
    """Put results on the leaderboard; each replaces the row with its key.

    One process does this at a time, and computes everything before it writes the first file.

    Args:
        board: the leaderboard's CSV; the other tables are beside it.

    Returns:
        The tables of all rows, in Markdown.

    Raises:
        FormatError: the existing leaderboard cannot be read.
    """
    with locked_folder(board):
        known = {row.key: row for row in (*read_board(board), *entries)}
        rows = [known[key] for key in sorted(known)]
        text = markdown(rows, known_results(revisions(all_commits=True)))
        files = {board: board_text(rows), board.with_suffix(".md"): text}
        for path, content in (files | pandachat.tables(board, rows)).items():
            write_text(path, content)
    return text


def markdown(rows: Iterable[LeaderboardRow], known: Known) -> str:
    """Return a table for each state of a benchmark, since only its rows can be compared.

    A table has the columns that some row fills. No cell can break out of it or contain a link.
    """
    states = groupby(sorted(rows, key=attrgetter("of")), key=attrgetter("of"))
    return "\n".join(_section(list(of_state), known) for _, of_state in states)


def _section(board: Sequence[LeaderboardRow], known: Known) -> str:
    name, source, digest = map(shown.markdown, board[0].of)
    sizes = (f"{getattr(board[0], word)} {word}" for word in COUNTS[:2] if getattr(board[0], word))
    heading = f"{name} ({source})" if source else name
    rows = _ordered(board, known)
    main = main_of(board)
    first = dict.fromkeys(("system", "group", "rank", main, "low", "high", "decisions", *HEADER))
    order = [n for n in (*first, *DERIVED) if n not in HIDDEN]
    filled = [name for name in dict.fromkeys(order) if any(row[name] for row in rows)]
    parts = (heading, *sizes, f"state {digest or 'unknown'}", f"by {shown.markdown(main)}")
    table = shown.markdown_table(filled, [[row[column] for column in filled] for row in rows])
    return f"## {', '.join(parts)}\n\n{table}"


def _ordered(board: Sequence[LeaderboardRow], known: Known) -> list[dict[str, str]]:
    """Return the rows by group, and by name within a group, where an order would be noise."""
    columns: list[Any] = derived(board, known).to_dict("records")

    def place(pair: tuple[LeaderboardRow, dict[str, str]]) -> tuple[Any, ...]:
        row, found = pair
        letters = [(letter.isupper(), letter) for letter in found["group"]]
        return not letters, letters, row.system, row.key

    return [
        dict(zip(HEADER, cells(row), strict=True)) | found
        for row, found in sorted(zip(board, columns, strict=True), key=place)
    ]
