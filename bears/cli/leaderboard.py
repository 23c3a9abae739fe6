"""``python -m bears leaderboard``: DVC's experiments on the leaderboard."""

import argparse
from dataclasses import replace

from bears.config import read_selection
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.layout import LEADERBOARD, PARAMS, BenchmarkFiles
from bears.publishing.leaderboard.tables import publish
from bears.results.board import read_board
from bears.results.revision import WORKSPACE, revisions
from bears.results.row import LeaderboardRow, row_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``leaderboard``."""
    parser.description = (
        "Put every result of DVC's experiments on the leaderboard, one row for each benchmark, "
        "system and configuration; rows of submissions stay."
    )
    parser.add_argument(
        "--all-commits", action="store_true", help="experiments of every commit, not of HEAD alone"
    )
    parser.set_defaults(run=_update)


def _update(arguments: argparse.Namespace) -> None:
    read_selection(PARAMS)  # Elsewhere than in a checkout nothing is written.
    found: dict[tuple[str, ...], LeaderboardRow] = {}
    # Of the same configuration the workspace counts first, since its run may have been timed.
    for revision in sorted(revisions(arguments.all_commits), key=lambda each: bool(each.commit)):
        if row := row_of(revision):
            found.setdefault(row.key, _timed(row) if revision.name == WORKSPACE else row)
    print(publish(LEADERBOARD, found.values()), end="")
    rows = len(read_board(LEADERBOARD))
    print(f"{LEADERBOARD}: {rows} rows, {len(found)} results of experiments among them")


def _timed(row: LeaderboardRow) -> LeaderboardRow:
    """Return the row with the measured time, if the run in the workspace was measured."""
    run = BenchmarkFiles(row.benchmark).run(row.system)
    measured = run.exists() and read_timing(run.with_suffix(".timing.json"), sha256_of(run))
    return replace(row, seconds_per_question=measured["seconds_per_question"]) if measured else row
