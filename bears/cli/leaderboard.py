"""``bears leaderboard``: DVC's experiments on the leaderboard."""

from dataclasses import replace

from bears.config import read_selection
from bears.errors import FormatError
from bears.evaluation.timing import BUSY, timing_of, work_on
from bears.files.records import sha256_of
from bears.layout import LEADERBOARD, PARAMS, RETRIEVAL
from bears.publishing.leaderboard.tables import publish
from bears.results.board import read_board
from bears.results.revision import RUN, Revision, revisions
from bears.results.row import LeaderboardRow, row_of


def update(*, all_commits: bool = False) -> None:
    """Add the results of DVC's experiments to the leaderboard.

    There is one row for each benchmark, system and configuration. Rows of submissions stay.
    """
    read_selection(PARAMS)  # Outside of a checkout nothing is written.
    found: dict[tuple[str, ...], LeaderboardRow] = {}
    started, committed = dict[tuple[str, ...], str](), dict[tuple[str, ...], str]()
    for revision in revisions(all_commits):
        if (row := row_of(revision)) and row.key not in found:
            run = _run_of(revision)
            found[row.key] = _timed(row, run)
            started[row.key] = work_on(run).get("started", "")
            committed[row.key] = revision.committed(RETRIEVAL)
    print(publish(LEADERBOARD, found.values(), started, committed), end="")
    rows = len(read_board(LEADERBOARD))
    print(f"{LEADERBOARD}: {rows} rows, {len(found)} results of experiments among them")


COMMAND = update


def _run_of(revision: Revision) -> str:
    """Return the sha256 of a revision's run; empty if it is not here."""
    try:
        run = revision.output(RUN)
    except FormatError:
        return ""
    return sha256_of(run) if run and run.is_file() else ""


def _timed(row: LeaderboardRow, run: str) -> LeaderboardRow:
    """Return the row with the measured time, if the run was measured on this machine."""
    measured = timing_of(run)
    if not measured:
        return row
    busy = ["timed_on_a_busy_machine"] if measured.get("others", 0) > BUSY else []
    warnings = ", ".join(filter(None, [row.warnings, *busy]))
    return replace(row, seconds_per_question=measured["seconds_per_question"], warnings=warnings)
