"""``python -m bears leaderboard``: DVC's experiments on the leaderboard."""

from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from bears.errors import FormatError
from bears.formats.digest import sha256_of
from bears.formats.records import read_json
from bears.leaderboard import pandachat
from bears.leaderboard.board import BOARD, markdown, read_board, upsert, write_board
from bears.leaderboard.entry import Entry
from bears.leaderboard.experiments import entries, workspace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``leaderboard``."""
    parser.add_argument(
        "--all-commits", action="store_true", help="experiments of every commit, not of HEAD alone"
    )
    parser.set_defaults(run=_update)


def _update(arguments: argparse.Namespace) -> None:
    shown = _experiments(arguments.all_commits)
    here = workspace(shown)
    found = [_timed(entry) if here and entry.key == here.key else entry for entry in entries(shown)]
    # The workspace and what is newest come first, and are to be what stays.
    for entry in reversed(found):
        accuracy = entry.values.get(f"retrieval_accuracy@{pandachat.TOP}")
        if entry.questions and accuracy:
            correct = round(accuracy * entry.questions / 100)
            row = pandachat.row(
                pandachat.SCENARIO,
                _label(entry),
                pandachat.TOP,
                entry.seconds_per_question,
                correct,
                entry.questions,
            )
            pandachat.update(BOARD.with_name(f"{entry.benchmark}.json"), [row])
    board = upsert(read_board(BOARD), found)
    write_board(BOARD, board)
    print(markdown(board), end="")
    print(f"{BOARD}: {len(board)} rows, {len(found)} of them from experiments")


def _label(entry: Entry) -> str:
    """By embedding model and vector store, as the table's authors name systems."""
    chunking = "" if entry.chunking == "none" else entry.chunking
    return " / ".join(filter(None, (entry.system, entry.vector_store, chunking)))


def _timed(entry: Entry) -> Entry:
    """With the measured time, where the run in the workspace is the one that was measured."""
    runs = Path("data") / entry.benchmark / "runs"
    run, timing = runs / f"{entry.system}.trec", runs / f"{entry.system}.timing.json"
    if not (run.exists() and timing.exists()):
        return entry
    measured = read_json(timing)
    if measured["run_sha256"] != sha256_of(run):
        return entry
    return replace(entry, seconds_per_question=measured["seconds_per_question"])


def _experiments(all_commits: bool) -> Any:
    command = ["dvc", "exp", "show", "--json", *(["--all-commits"] if all_commits else [])]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        raise FormatError(f"`{' '.join(command)}` failed: {done.stderr.strip()}")
    return json.loads(done.stdout)
