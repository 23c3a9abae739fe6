"""Running ragas in its environment, against a server of ours."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.scores import Score
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.json_text import json_value

ENVIRONMENT = Path(".venv-ragas")
PROGRAM = Path(__file__).with_name("program.py")
CONCURRENCY = 16
"""Metrics of rows that are worked on side by side; the server paces what is asked of a model."""

LINE = 64 * 1024 * 1024
"""The longest line that the program may print, in bytes."""


class RagasFailed(BearsError):
    """ragas ended before it had scored everything."""


def python() -> Path:
    """The interpreter that has ragas.

    Raises:
        ConfigurationError: there is none.
    """
    found = Path(os.environ.get("BEARS_RAGAS", ENVIRONMENT)).absolute() / "bin" / "python"
    if not found.exists():
        raise ConfigurationError(
            f"{found} is not there: ragas needs an environment of its own, 600 MB; make it with "
            "`make ragas`"
        )
    return found


async def scored(
    rows: Sequence[RagasRow],
    base_url: str,
    key: str,
    models: tuple[str, str],
    progress: Callable[[int], None],
) -> tuple[dict[str, str], list[Score]]:
    """Score rows by all metrics.

    Args:
        base_url, key: of a server that answers for ``models``, of chat and of embeddings.
        progress: called with the number of scores so far, after each of them and at the end.

    Returns:
        The versions of the packages, and the scores in the order of rows.

    Raises:
        ConfigurationError: there is no environment with ragas.
        RagasFailed: it ended early.
    """
    asked = {
        "base_url": base_url,
        "key": key,
        "model": models[0],
        "embedding_model": models[1],
        "concurrency": CONCURRENCY,
        "rows": [*map(asdict, rows)],
    }
    process = await asyncio.create_subprocess_exec(
        python(), "-I", PROGRAM, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=_env(), limit=LINE
    )
    try:
        return await _watched(process, json.dumps(asked).encode(), progress)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _env() -> dict[str, str]:
    """No key and no proxy of the user's: it talks to a server of ours and to nobody else."""
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
    return {name: os.environ[name] for name in kept if name in os.environ}


async def _watched(
    process: Process, told: bytes, progress: Callable[[int], None]
) -> tuple[dict[str, str], list[Score]]:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    complaints = asyncio.create_task(process.stderr.read())
    process.stdin.write(told)
    process.stdin.close()
    scores, versions = list[Score](), dict[str, str]()
    try:
        async for line in process.stdout:
            if versions:
                scores.append(_score(line))
                progress(len(scores))
            else:
                versions = TypeAdapter(dict[str, str]).validate_python(json_value(line, "versions"))
    finally:
        # Much may have been asked since the last score.
        progress(len(scores))
    status = await process.wait()
    words = (await complaints).decode("utf-8", "replace").strip().splitlines()
    if status:
        last = words[-1] if words else "it said nothing"
        raise RagasFailed(f"ragas ended with status {status} after {len(scores)} scores: {last}")
    return versions, sorted(scores, key=lambda score: (score.row, score.metric))


def _score(line: bytes) -> Score:
    value: Mapping[str, Any] = json_value(line, "a score of ragas")
    try:
        return TypeAdapter(Score).validate_python(value)
    except ValidationError:
        raise FormatError(f"a score of ragas is {value!r:.80}") from None
