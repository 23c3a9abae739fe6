"""Put what a file of answers scored on the leaderboard."""

from collections.abc import Iterable, Mapping
from typing import Any

from bears.files.benchmark_state import BenchmarkState
from bears.layout import LEADERBOARD
from bears.results.row import ANSWERS, OF_ANSWERS, submitted


def on_board(
    state: BenchmarkState,
    system: str,
    scored: str,
    values: Mapping[str, Any],
    faults: Iterable[str],
    judge: str = "",
) -> None:
    """Put scores of answers on the leaderboard, as a row of its own.

    Args:
        system: what it is called.
        scored: digest of what was scored, which tells it from other answers of the same system.
        values: measure to its mean; those that have a column are kept.
        faults: what stands beside the scores, in a few words each.
        judge: who gave the values that need one.
    """
    # With it comes pandas, which takes a second, and most files of answers have no row.
    from bears.publishing.leaderboard.tables import publish

    row = submitted(
        state,
        system,
        judge=judge,
        answers=scored[:12],
        values={name: values[name] for name in ANSWERS if name in values},
        warnings=", ".join(sorted(OF_ANSWERS + fault for fault in faults)),
    )
    publish(LEADERBOARD, [row])
