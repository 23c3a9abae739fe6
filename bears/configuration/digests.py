"""Digests by which DVC sees that something changed, where dvc.lock need not spell out what."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bears.formats.digest import digest_of, sha256_of

DIGESTED = ("gates", "language", "retriever", "sample", "sources")
"""Parts of the configuration whose digest stands under ``digest`` as well.

A stage that declares ``digest.gates`` under params reads ``gates``. DVC parses dvc.lock a dozen
times in every run, and an earlier stage shows the values there already.
"""

PREFIX = "digest."
CODE = "digest.code"
"""Stands for the code that every stage runs. DVC spends more on a dependency than on a value, but
it hashes a dependency when the stage runs, and a value is as old as `config`'s last run. So a stage
that DVC runs compares."""


def digest(name: str, config: Mapping[str, Any], code: Iterable[Path]) -> str:
    """What stands under ``digest.name``: sixteen hexadecimal digits.

    Args:
        name: one of `DIGESTED`, or ``code``.
        config: the whole configuration.
        code: programs and packages that every stage runs.
    """
    return digest_of(_contents(code) if name == "code" else config[name])[:16]


def _contents(code: Iterable[Path]) -> dict[str, str]:
    """The path of each program, and the sha256 of what it holds."""
    files = {file for path in code for file in (path.rglob("*.py") if path.is_dir() else [path])}
    return {file.as_posix(): sha256_of(file) for file in files}
