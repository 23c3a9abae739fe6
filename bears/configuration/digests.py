"""Digests by which DVC sees that something changed, where dvc.lock need not spell out what."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

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


def digest_of(value: Mapping[str, Any]) -> str:
    """The sha256 of plain values as a line of canonical JSON Lines, in hexadecimal."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"
    return hashlib.sha256(line.encode("utf-8")).hexdigest()


def digests(config: Mapping[str, Any], code: Iterable[Path]) -> dict[str, str]:
    """What stands under ``digest``: sixteen hexadecimal digits of each.

    Args:
        config: the whole configuration.
        code: programs and packages that every stage runs.
    """
    files = {file for path in code for file in (path.rglob("*.py") if path.is_dir() else [path])}
    contents = {file.as_posix(): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}
    digested = {"code": contents} | {name: config[name] for name in DIGESTED}
    return {name: digest_of(value)[:16] for name, value in digested.items()}
