"""Add the scores of a file of answers to the leaderboard."""

from collections.abc import Iterable, Mapping
from typing import Any

from bears.files.benchmark_state import BenchmarkState
from bears.layout import LEADERBOARD
from bears.results.row import ANSWERS, OF_ANSWERS, submitted


def add_row(
    state: BenchmarkState,
    system: str,
    digest: str,
    values: Mapping[str, Any],
    faults: Iterable[str],
    judge: str = "",
) -> None:
    """Add scores of answers to the leaderboard, as a row of their own.

    Args:
        system: the name of the row.
        digest: of what was scored; it distinguishes other answers of the same system.
        values: measure to its mean; those that have a column are kept.
        faults: names of warnings.
        judge: who gave the values that need a judge.
    """
    # This imports pandas, which takes a second, and most files of answers get no row.
    from bears.publishing.leaderboard.tables import publish

    row = submitted(
        state,
        system,
        judge=judge,
        answers=digest[:12],
        values={name: values[name] for name in ANSWERS if name in values},
        warnings=", ".join(sorted(OF_ANSWERS + fault for fault in faults)),
    )
    publish(LEADERBOARD, [row])
