"""``bears leaderboard``: DVC's experiments on the leaderboard."""

from dataclasses import replace

from bears.config import read_selection
from bears.errors import FormatError
from bears.evaluation.timing import BUSY, timing_of, work_on
from bears.files.records import sha256_of
from bears.layout import LEADERBOARD, PARAMS
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
    for revision in revisions(all_commits):
        if row := row_of(revision):
            found.setdefault(row.key, _timed(row, revision))
    print(publish(LEADERBOARD, found.values()), end="")
    rows = len(read_board(LEADERBOARD))
    print(f"{LEADERBOARD}: {rows} rows, {len(found)} results of experiments among them")


COMMAND = update


def _timed(row: LeaderboardRow, revision: Revision) -> LeaderboardRow:
    """Return the row with its time and that of a question, if it was measured on this machine."""
    try:
        run = revision.output(RUN)
    except FormatError:
        return row
    digest = sha256_of(run) if run and run.is_file() else ""
    row = replace(row, timestamp=work_on(digest).get("started", ""))
    if not (measured := timing_of(digest)):
        return row
    busy = ["timed_on_a_busy_machine"] if measured.get("others", 0) > BUSY else []
    warnings = ", ".join(filter(None, [row.warnings, *busy]))
    return replace(row, seconds_per_question=measured["seconds_per_question"], warnings=warnings)
