"""``bears leaderboard``: DVC's experiments on the leaderboard."""

from dataclasses import replace

from bears.config import read_selection
from bears.evaluation.timing import read_timing
from bears.files.digest import sha256_of
from bears.layout import LEADERBOARD, PARAMS, BenchmarkFiles
from bears.publishing.leaderboard.tables import publish
from bears.results.board import read_board
from bears.results.revision import WORKSPACE, revisions
from bears.results.row import LeaderboardRow, row_of


def update(*, all_commits: bool = False) -> None:
    """Add the results of DVC's experiments to the leaderboard.

    There is one row for each benchmark, system and configuration. Rows of submissions stay.
    """
    read_selection(PARAMS)  # Outside of a checkout nothing is written.
    found: dict[tuple[str, ...], LeaderboardRow] = {}
    # The workspace comes first among equal configurations, since its run may have been timed.
    for revision in sorted(revisions(all_commits), key=lambda each: bool(each.commit)):
        if row := row_of(revision):
            found.setdefault(row.key, _timed(row) if revision.name == WORKSPACE else row)
    print(publish(LEADERBOARD, found.values()), end="")
    rows = len(read_board(LEADERBOARD))
    print(f"{LEADERBOARD}: {rows} rows, {len(found)} results of experiments among them")


COMMAND = update


def _timed(row: LeaderboardRow) -> LeaderboardRow:
    """Return the row with the measured time, if the run in the workspace was measured."""
    run = BenchmarkFiles(row.benchmark).run(row.system)
    measured = run.exists() and read_timing(run.with_suffix(".timing.json"), sha256_of(run))
    return replace(row, seconds_per_question=measured["seconds_per_question"]) if measured else row
