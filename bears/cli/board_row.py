"""Put what a file of answers scored on the leaderboard."""

from collections.abc import Iterable, Mapping
from typing import Any

from bears.files.benchmark_state import BenchmarkState
from bears.publishing.leaderboard.board import BOARD
from bears.publishing.leaderboard.publish import publish
from bears.publishing.leaderboard.row import ANSWERS, OF_ANSWERS, submission_row


def on_board(
    state: BenchmarkState,
    system: str,
    scored: str,
    values: Mapping[str, Any],
    faults: Iterable[str],
    judge: str = "",
) -> None:
    """Write a row of the leaderboard; it joins the row of the system's retrieval.

    Args:
        system: what it is called.
        scored: digest of what was scored, which tells it from other answers of the same system.
        values: measure to its mean; those that have a column are kept.
        faults: what stands beside the scores, in a few words each.
        judge: who gave the values that need one.
    """
    # It imports pandas, which takes a second that most files of answers do not need.
    from bears.cli.standings import placed

    entry = submission_row(
        state,
        system,
        judge=judge,
        answers=scored[:12],
        values={name: values[name] for name in ANSWERS if name in values},
        warnings=", ".join(sorted(OF_ANSWERS + fault for fault in faults)),
    )
    publish(BOARD, [entry], {}, placed)
