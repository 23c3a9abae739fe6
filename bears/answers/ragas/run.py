"""Run ragas in its own environment, against a server of ours."""

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.scores import Score
from bears.config.packaged import CHECKOUT
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.json_text import json_value

ENVIRONMENT = Path(".venv-ragas")
INSTALL = f"{ENVIRONMENT}/bin/pip install ragas==0.4.3 'langchain-community<0.4'"
"""As requirements/ragas.in has it."""
PROGRAM = Path(__file__).with_name("program.py")
CONCURRENCY = 16
"""How many scores to work on at once; the server limits the rate of requests to a model."""

LINE = 64 * 1024 * 1024
"""The longest line that the program may print, in bytes."""
T = TypeVar("T")
_VERSIONS, _SCORE = TypeAdapter(dict[str, str]), TypeAdapter(Score)


class RagasFailed(BearsError):
    """ragas stopped before it had scored everything."""


def python() -> Path:
    """Return the Python interpreter of the environment with ragas.

    Raises:
        ConfigurationError: the environment is missing.
    """
    found = Path(os.environ.get("BEARS_RAGAS", ENVIRONMENT)).absolute() / "bin" / "python"
    if not found.exists():
        raise ConfigurationError(
            f"{found} does not exist: ragas needs an environment of its own, 600 MB; create it: "
            + ("make ragas" if CHECKOUT else f"python3 -m venv {ENVIRONMENT} && {INSTALL}")
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
        ConfigurationError: the environment with ragas is missing.
        RagasFailed: it stopped early.
    """
    asked = {
        "base_url": base_url,
        "key": key,
        "model": models[0],
        "embedding_model": models[1],
        "concurrency": CONCURRENCY,
        "rows": [*map(asdict, rows)],
    }
    # No key and no proxy of the user's: the program talks to our server only.
    kept = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        python(), "-I", PROGRAM, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=env, limit=LINE
    )
    try:
        return await _watched(process, json.dumps(asked).encode(), progress)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _watched(
    process: Process, request: bytes, progress: Callable[[int], None]
) -> tuple[dict[str, str], list[Score]]:
    assert process.stdin
    assert process.stdout
    assert process.stderr
    complaints = asyncio.create_task(process.stderr.read())
    process.stdin.write(request)
    process.stdin.close()
    scores, versions = list[Score](), dict[str, str]()
    try:
        async for line in process.stdout:
            if versions:
                scores.append(_parsed(_SCORE, line, "a score"))
                progress(len(scores))
            else:
                versions = _parsed(_VERSIONS, line, "the versions")
    finally:
        # Many requests may have been sent since the last score.
        progress(len(scores))
    status = await process.wait()
    words = (await complaints).decode("utf-8", "replace").strip().splitlines()
    if status:
        last = words[-1] if words else "it printed no reason"
        raise RagasFailed(f"ragas ended with status {status} after {len(scores)} scores: {last}")
    return versions, sorted(scores, key=lambda score: (score.row, score.metric))


def _parsed(adapter: TypeAdapter[T], line: bytes, what: str) -> T:
    value = json_value(line, f"{what} of ragas")
    try:
        return adapter.validate_python(value)
    except ValidationError:
        raise FormatError(f"{what} of ragas is {value!r:.80}") from None
