"""The configuration that a command works on."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bears.configuration import Config, compose, read_selection
from bears.errors import ConfigurationError

CONF = Path("conf")


def composed(benchmark: str, overrides: Sequence[str]) -> Config:
    """params.yaml's selection with another benchmark, if one is named, and Hydra overrides.

    The overrides in params.yaml belong to its own benchmark, and may not fit another.
    """
    selection = read_selection(Path("params.yaml"))
    if benchmark and benchmark != selection.get("benchmark"):
        selection |= {"benchmark": benchmark, "overrides": []}
    return compose(CONF, selection, overrides)


def add_benchmark_arguments(parser: argparse.ArgumentParser) -> None:
    """What `results_of` is given."""
    parser.add_argument("--benchmark", required=True, help="its results must be in data/")
    parser.add_argument("--folder", type=Path, help="with queries.json and corpus.json")


def results_of(benchmark: str, folder: Path | None) -> tuple[Path, Config]:
    """Where the questions and documents of ``benchmark`` lie, and its configuration.

    Raises:
        ConfigurationError: the pipeline did not make it yet.
    """
    config = composed(benchmark, [])
    where = folder or Path("data") / benchmark / "translated"
    for name in ("queries.json", "corpus.json"):
        if not (where / name).is_file():
            raise ConfigurationError(
                f"{where / name} does not exist; `dvc exp run -S benchmark={benchmark}` makes "
                "it, or name a folder that has it: --folder FOLDER"
            )
    return where, config
