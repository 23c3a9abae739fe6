"""Run ragas in its own environment, with the kept replies to its requests."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.scores import Score
from bears.config.packaged import CHECKOUT
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.json_text import json_value
from bears.llm.kept import KeptReplies

ENVIRONMENT = Path(".venv-ragas")
INSTALL = f"{ENVIRONMENT}/bin/pip install ragas==0.4.3 'langchain-community<0.4'"
"""As requirements/ragas.in has it."""
PROGRAM = Path(__file__).with_name("program.py")
PASSED = ("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH")
"""Environment variables that the program gets. None of them holds a key."""

SHOWN = 1000
"""How many characters of a request are kept."""


class RagasFailed(BearsError):
    """ragas stopped before it had scored everything."""


@dataclass(frozen=True, slots=True)
class RagasRequest:
    """A request of ragas to a model, as the program prints it.

    Args:
        key: the digest of everything that can change the reply.
        body: what is sent; empty if the reply is kept.
        record_id: always empty, since several rows may have the same request.
    """

    key: str
    body: Mapping[str, Any]
    record_id: str = ""

    @property
    def field(self) -> str:
        """Return ``chat`` or ``embeddings``."""
        return "chat" if "messages" in self.body else "embeddings"

    @property
    def texts(self) -> tuple[str, ...]:
        """Return what the request says."""
        if self.field == "chat":
            return tuple(message["content"] for message in self.body["messages"])
        texts = self.body["input"]
        return (texts,) if isinstance(texts, str) else tuple(texts)

    @property
    def text(self) -> str:
        """Return the end of `texts`, for people who read the kept replies."""
        return "\n".join(self.texts)[-SHOWN:]


_LINE: TypeAdapter[Score | RagasRequest] = TypeAdapter(Score | RagasRequest)


@dataclass
class Evaluated:
    """What ragas has printed.

    Args:
        versions: of the packages.
        scores: in the order in which they came.
        requests: those with and without a kept reply.
    """

    versions: dict[str, str] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    requests: list[RagasRequest] = field(default_factory=list)

    def take(self, line: bytes) -> None:
        """Take one line of the program."""
        value = json_value(line, "a line of ragas")
        if not self.versions:
            self.versions = value
            return
        try:
            found = _LINE.validate_python(value)
        except ValidationError:
            raise FormatError(f"a line of ragas is {value!r:.80}") from None
        if isinstance(found, Score):
            self.scores.append(found)
        else:
            self.requests.append(found)


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


def evaluate(
    rows: Sequence[RagasRow], models: Mapping[str, object], known: KeptReplies
) -> Evaluated:
    """Score rows by all metrics, as far as the replies are known.

    Args:
        models: ``model``, ``embeddings`` and ``answer_tokens`` for ragas.

    Raises:
        ConfigurationError: the environment with ragas is missing.
        FormatError: a kept reply is not JSON.
        RagasFailed: ragas stopped early.
    """
    replies = {
        entry.key: json_value(entry.answer.encode(), f"the kept reply {entry.key}")
        for entry in known
    }
    asked = {**models, "known": replies, "rows": [*map(asdict, rows)]}
    env = {name: os.environ[name] for name in PASSED if name in os.environ}
    found, words = Evaluated(), [str(python()), "-I", str(PROGRAM)]
    with (
        TemporaryFile() as errors,
        Popen(words, stdin=PIPE, stdout=PIPE, stderr=errors, env=env) as process,
    ):
        assert process.stdin
        assert process.stdout
        try:
            # It may end before it reads this.
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(json.dumps(asked).encode())
            for line in process.stdout:
                found.take(line)
        except BaseException:
            process.kill()
            raise
        if process.wait():
            errors.seek(0)
            told = errors.read().decode("utf-8", "replace").strip().splitlines()
            last = told[-1] if told else "it printed no reason"
            raise RagasFailed(
                f"ragas ended after {len(found.scores)} scores: status {process.returncode}, "
                f"{last:.400}"
            )
    return found
