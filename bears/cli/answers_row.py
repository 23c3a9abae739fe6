"""The row of a file of answers on the leaderboard."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bears.files.benchmark_state import BenchmarkState
from bears.files.digest import sha256_of
from bears.publishing.leaderboard.board import BOARD
from bears.publishing.leaderboard.publish import publish
from bears.publishing.leaderboard.row import ANSWERS, OF_ANSWERS, submission_row


def publish_answers(
    file: Path,
    system: str,
    state: BenchmarkState,
    values: Mapping[str, Any],
    faults: Collection[str] = (),
    judge: str = "",
) -> None:
    """Put a file of answers on the leaderboard; it joins the row of the system's retrieval.

    Args:
        file: its digest tells it from others of the same system.
        system: what it is called.
        state: of the benchmark.
        values: measure to its mean; those that have a column are kept.
        faults: what stands beside the score, in a word each.
        judge: whose the pass rate is.
    """
    # With it comes pandas, which takes a second, and most files of answers have no row.
    from bears.cli.standings import placed

    entry = submission_row(
        state,
        system,
        judge=judge,
        answers=sha256_of(file)[:12],
        values={name: values[name] for name in ANSWERS if name in values},
        warnings=", ".join(sorted(OF_ANSWERS + kind for kind in faults)),
    )
    publish(BOARD, [entry], {}, placed)
