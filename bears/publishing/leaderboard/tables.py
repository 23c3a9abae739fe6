"""Rank the leaderboard's rows, and write its files: facts as CSV, and tables for people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

import pandas as pd

from bears.errors import FormatError
from bears.evaluation.comparison.result import compare
from bears.evaluation.comparison.values import CLUSTER, Measured
from bears.files import shown
from bears.files.lock import locked_folder
from bears.files.records import to_json, write_text
from bears.files.visible import one_line
from bears.results.board import COUNTS, DERIVED, HEADER, board_text, cell, cells, read_board
from bears.results.origins import system_at
from bears.results.revision import Revision, revisions
from bears.results.row import MAIN, MEASURES, LeaderboardRow, decided, row_of
from bears.results.submission import SCENARIO
from bears.results.values import read_values

TOLERANCE = 2e-6
"""Means on the leaderboard have six decimals."""
MOST = 6
"""How many settings are named beside a row."""

Known = Mapping[tuple[str, ...], Revision]


def known_results(revisions: Iterable[Revision]) -> Known:
    """Map the key of each retrieval to the first revision with its results."""
    found: dict[tuple[str, ...], Revision] = {}
    for revision in revisions:
        if row := row_of(revision):
            found.setdefault(row.retrieval, revision)
    return found


def main_of(rows: Iterable[LeaderboardRow]) -> str:
    """Return the measure that orders rows of one state."""
    return next((row.main for row in rows if row.main in MEASURES), MAIN)


def standings(rows: Sequence[LeaderboardRow], known: Known) -> pd.DataFrame:
    """Return the cells that place each row: those of `DERIVED`, but for its settings.

    They are the 95 % interval of its mean, the letters shared with systems that do not differ
    significantly, and the ranks that it may have, whose ranges hold for all systems at once. They
    are empty if the values by question are not known.

    Args:
        rows: of one state of a benchmark.
        known: see `known_results`.
    """
    main = main_of(rows)
    table = pd.DataFrame("", range(len(rows)), DERIVED[:-1])
    found = {place: _values(row, main, known) for place, row in enumerate(rows)}
    first = next((values.index for values, _ in filter(None, found.values())), None)
    systems = [
        Measured(str(place), "", of[0].to_frame(main), of[1].filter([CLUSTER]))
        for place, of in found.items()
        if of and of[0].index.equals(first)
    ]
    for system in compare(systems)["systems"] if systems else ():
        one = system["measures"][main]
        rank = " to ".join(map(str, dict.fromkeys(one["rank"])))
        place = int(system["name"])
        table.loc[place] = [cell(one["low"]), cell(one["high"]), one["group"], rank]
    return table


def derived(rows: Sequence[LeaderboardRow], known: Known) -> pd.DataFrame:
    """Return the columns that are not stored; arguments as for `standings`."""
    revisions = [known.get(row.retrieval) for row in rows]
    configs = [{**decided(each.config), "code": each.code} if each else {} for each in revisions]
    return standings(rows, known).assign(differs=differing([row.system for row in rows], configs))


def _values(row: LeaderboardRow, main: str, known: Known) -> tuple[pd.Series, pd.DataFrame] | None:
    """Return the values and the kinds by question, if the row's mean is that of known values."""
    try:
        if row.origin == "experiment" and (revision := known.get(row.retrieval)):
            system = system_at(revision)
            frame, kinds = system.values, system.kinds
        elif row.kept_values.is_file():
            frame, kinds = read_values(row.kept_values)
        else:
            return None
    except FormatError:
        return None  # The outputs of an experiment may be gone.
    mean = row.values.get(main)
    if mean is None or main not in frame or abs(frame[main].mean() - mean) > TOLERANCE:
        return None
    values = frame[main].sort_index()
    return values, kinds.loc[values.index]


def differing(systems: Sequence[str], configs: Sequence[dict[str, Any]]) -> list[str]:
    """Return for each row the settings in which it differs from other rows.

    Settings of a retriever are compared between rows of that retriever only.
    """
    flat = pd.json_normalize(list(configs))
    flat = flat[sorted(map(str, flat))].astype(str).where(flat.notna(), None)
    known = pd.Series([bool(config) for config in configs])
    settings: list[list[str]] = [[] for _ in configs]
    for name, column in flat[known].items():
        of = pd.Series(systems) if str(name).startswith("retriever") else known
        differ = column.groupby(of[known]).transform("nunique", dropna=False) > 1
        for i in column[differ].dropna().index:
            settings[int(i)].append(f"{name}={one_line(column[i], 40)}")
    more = [[f"and {len(row) - MOST} more"] if len(row) > MOST else [] for row in settings]
    return [", ".join([*row[:MOST], *rest]) for row, rest in zip(settings, more, strict=True)]


TOP = 2
"""The k of the published table."""
SOURCES, DOCUMENTS = f"retrieval_accuracy@{TOP}", f"success@{TOP}"
"""One counts the first k sources, of which several may be chunks of one document; the other counts
the first k different documents."""


def pandachat_tables(board: Path, rows: Iterable[LeaderboardRow]) -> dict[Path, str]:
    """Return the files, beside the leaderboard, for each benchmark measured like PandaChat."""
    ours = [row for row in rows if row.questions and row.values.get(DOCUMENTS) is not None]
    files: dict[Path, str] = {}
    for name in sorted({row.benchmark for row in ours if row.values.get(SOURCES) is not None}):
        lines = [_line(row) for row in ours if row.benchmark == name]
        lines.sort(key=lambda line: (-line["correct_in_documents_count"], line["system"]))
        stem = name if name.startswith("pandachat") else f"pandachat-{name}"
        table = [[cell(value) for value in line.values()] for line in lines]
        files[board.with_name(f"{stem}.json")] = to_json(lines) + "\n"
        files[board.with_name(f"{stem}.md")] = shown.markdown_table(list(lines[0]), table)
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


HIDDEN = ("benchmark", "source", "state", *COUNTS[:2], "main", "timestamp")
"""Columns that are in the heading of a table, or in the CSV file alone."""


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
        known = {row.key: row for row in read_board(board)}
        known |= {row.key: _dated(row, known.get(row.key)) for row in entries}
        rows = [known[key] for key in sorted(known)]
        text = markdown(rows, known_results(revisions(all_commits=True)))
        files = {board: board_text(rows), board.with_suffix(".md"): text}
        for path, content in (files | pandachat_tables(board, rows)).items():
            write_text(path, content)
    return text


def _dated(row: LeaderboardRow, before: LeaderboardRow | None) -> LeaderboardRow:
    """Return a row with the time of its measurement, which stays as long as its values do."""
    if row.timestamp:
        return row
    if before and all(cell(row.values.get(m)) == cell(before.values.get(m)) for m in MEASURES):
        return replace(row, timestamp=before.timestamp)
    # A submission is measured when it is scored.
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return replace(row, timestamp=now if row.origin == "submission" else "")


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
    """Return the rows by group, and by name within a group, where an order would be noise.

    Rows without a group come last, by their means.
    """
    columns: list[Any] = derived(board, known).to_dict("records")
    main = main_of(board)

    def place(pair: tuple[LeaderboardRow, dict[str, str]]) -> tuple[Any, ...]:
        row, found = pair
        letters = [(letter.isupper(), letter) for letter in found["group"]]
        mean = 0.0 if letters else row.values.get(main) or 0.0
        return not letters, letters, -mean, row.system, row.key

    return [
        dict(zip(HEADER, cells(row), strict=True)) | found
        for row, found in sorted(zip(board, columns, strict=True), key=place)
    ]
