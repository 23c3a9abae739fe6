"""``python -m bears leaderboard``: DVC's experiments on the leaderboard."""

import argparse
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from bears.cli.compared_systems import revisions
from bears.cli.standings import placed, states
from bears.config import read_selection
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.publishing.leaderboard import pandachat
from bears.publishing.leaderboard.board import BOARD, markdown
from bears.publishing.leaderboard.experiments import entries, entry_of
from bears.publishing.leaderboard.publish import publish
from bears.publishing.leaderboard.row import LeaderboardRow


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``leaderboard``."""
    parser.description = (
        "Put every result of DVC's experiments on the leaderboard, one row for each benchmark, "
        "system and configuration; rows of submissions stay."
    )
    parser.add_argument(
        "--all-commits", action="store_true", help="experiments of every commit, not of HEAD alone"
    )
    parser.set_defaults(run=_update)


def _update(arguments: argparse.Namespace) -> None:
    read_selection(Path("params.yaml"))  # Elsewhere than in a checkout nothing is written.
    there = states()
    wanted = {revision.commit for revision in revisions(arguments.all_commits)}
    chosen = [revision for revision in there if revision.commit in wanted]
    # Of the same configuration the workspace counts first, since its run may have been timed.
    chosen.sort(key=lambda revision: revision.commit != "")
    here = entry_of(there[chosen[0]])
    rows = entries(there[revision] for revision in chosen)
    found = [_timed(row) if here and row.key == here.key else row for row in rows]
    tables: dict[str, list[dict[str, Any]]] = {}
    for entry in found:
        if row := _pandachat_row(entry):
            tables.setdefault(entry.benchmark, []).append(row)
    board = publish(BOARD, map(_without_sources, found), tables, partial(placed, there=there))
    print(markdown(board), end="")
    print(f"{BOARD}: {len(board)} rows, {len(found)} results of experiments among them")


def _pandachat_row(entry: LeaderboardRow) -> dict[str, Any] | None:
    """The row of a result that was measured as PandaChat measures."""
    k = pandachat.TOP
    share = entry.values.get(f"success@{k}")
    if not entry.questions or share is None or f"retrieval_accuracy@{k}" not in entry.values:
        return None
    documents = round(share * entry.questions)
    sources = documents if _whole(entry) else None
    counts = sources, documents, entry.questions
    return pandachat.row(entry, pandachat.SCENARIO, _label(entry), k, *counts)


def _whole(entry: LeaderboardRow) -> bool:
    """Whether documents were searched whole, so that a source is a document."""
    return entry.chunking in ("", "none")


def _without_sources(entry: LeaderboardRow) -> LeaderboardRow:
    """Without what is counted over sources, where a run of documents does not tell them."""
    values = {
        name: value
        for name, value in entry.values.items()
        if _whole(entry) or not name.startswith("retrieval_accuracy@")
    }
    return replace(entry, values=values)


def _label(entry: LeaderboardRow) -> str:
    """By embedding model and vector store, as the table's authors name systems."""
    chunking = "" if entry.chunking == "none" else entry.chunking
    return " / ".join(filter(None, (entry.system, entry.vector_store, chunking)))


def _timed(entry: LeaderboardRow) -> LeaderboardRow:
    """With the measured time, where the run in the workspace is the one that was measured."""
    runs = Path("data") / entry.benchmark / "runs"
    run, timing = runs / f"{entry.system}.trec", runs / f"{entry.system}.timing.json"
    if run.exists() and (measured := read_timing(timing, sha256_of(run))):
        return replace(entry, seconds_per_question=measured["seconds_per_question"])
    return entry
