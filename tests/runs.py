"""Runs as tests write them down: whole, question_id to ranking."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from bears.files.trec import read_table, run_writer
from bears.types import Ranking, Run


def read_run(path: Path, question_ids: Collection[str] | None) -> dict[str, Ranking]:
    """question_id to its ranking, questions in the order of their first line."""
    return read_table(path, question_ids).rankings()


def write_run(path: Path, run: Run, tag: str) -> None:
    """Questions in the order of ``run``."""
    with run_writer(path, tag) as write:
        for question_id, ranking in run.items():
            write(question_id, ranking)
