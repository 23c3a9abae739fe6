"""The configuration that a command works on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bears.configuration import Config, compose, read_selection

CONF = Path("conf")


def composed(benchmark: str, overrides: Sequence[str]) -> Config:
    """params.yaml's selection with another benchmark, if one is named, and Hydra overrides."""
    selection = read_selection(Path("params.yaml"))
    if benchmark:
        selection["benchmark"] = benchmark
    return compose(CONF, selection, overrides)
