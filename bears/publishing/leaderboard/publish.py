"""Results in the leaderboard and in PandaChat's table: the same rows in both."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from bears.files.lock import locked_folder
from bears.files.records import write_text
from bears.publishing.leaderboard import pandachat
from bears.publishing.leaderboard.board import board_files, in_order, read_board, upsert
from bears.publishing.leaderboard.row import LeaderboardRow


def publish(
    board: Path,
    entries: Iterable[LeaderboardRow],
    tables: Mapping[str, Sequence[Mapping[str, Any]]],
    placed: Callable[[Sequence[LeaderboardRow]], Iterable[LeaderboardRow]] = iter,
) -> list[LeaderboardRow]:
    """Put results into the tables; each takes the place of the one with its key.

    One process at a time; everything is worked out before the first file is written.

    Args:
        board: the leaderboard's CSV; the other tables lie beside it.
        entries: of the leaderboard.
        tables: benchmark to its rows of PandaChat's table.
        placed: says of all rows where they stand.

    Returns:
        All rows of the leaderboard.

    Raises:
        FormatError: a table that is there cannot be read.
    """
    with locked_folder(board):
        rows = in_order(placed(upsert(read_board(board), entries)))
        files = board_files(board, rows)
        for benchmark, more in tables.items():
            files |= pandachat.updated(pandachat.place(board, benchmark), more)
        for path, text in files.items():
            write_text(path, text)
    return rows
