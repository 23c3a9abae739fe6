"""Run ragas in its own environment, with the kept replies to its requests."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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
        scores: in the order in which they came; a later one of a row and a metric counts.
        requests: those with and without a kept reply, in the same order.
    """

    versions: dict[str, str] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    requests: list[RagasRequest] = field(default_factory=list)

    def take(self, line: bytes) -> bool:
        """Take one line of the program; return whether it is the last one for now."""
        value = json_value(line, "a line of ragas")
        if not self.versions or value is None:
            self.versions = self.versions or value
            return value is None
        try:
            found = _LINE.validate_python(value)
        except ValidationError:
            raise FormatError(f"a line of ragas is {value!r:.80}") from None
        if isinstance(found, Score):
            self.scores.append(found)
        else:
            self.requests.append(found)
        return False


Evaluate = Callable[[KeptReplies], Evaluated]


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


@contextmanager
def running(rows: Sequence[RagasRow], models: Mapping[str, object]) -> Iterator[Evaluate]:
    """Start ragas; yield a function that scores rows by all metrics, as far as replies are known.

    Another call with more replies scores only what lacked one.

    Args:
        models: ``model``, ``embeddings`` and ``answer_tokens`` for ragas.

    Raises:
        ConfigurationError: the environment with ragas is missing.
        FormatError: a kept reply is not JSON.
        RagasFailed: ragas stopped early.
    """
    env = {name: os.environ[name] for name in PASSED if name in os.environ}
    found, words, sent = Evaluated(), [str(python()), "-I", str(PROGRAM)], set[str]()
    with (
        TemporaryFile() as errors,
        Popen(words, stdin=PIPE, stdout=PIPE, stderr=errors, env=env) as process,
    ):
        told, lines = process.stdin, process.stdout
        assert told
        assert lines

        def evaluate(known: KeptReplies) -> Evaluated:
            new = {
                entry.key: json_value(entry.answer.encode(), f"the kept reply {entry.key}")
                for entry in known
                if entry.key not in sent
            }
            sent.update(new)
            # It may have ended.
            with suppress(BrokenPipeError):
                told.write(_line(new))
                told.flush()
            if any(found.take(line) for line in lines):
                return found
            status = process.wait()
            errors.seek(0)
            last = errors.read().decode("utf-8", "replace").strip().rpartition("\n")[2]
            raise RagasFailed(
                f"ragas ended after {len(found.scores)} scores: status {status}, "
                f"{last or 'it printed no reason':.400}"
            )

        try:
            told.write(_line({**models, "rows": [*map(asdict, rows)]}))
            yield evaluate
        except BaseException:
            process.kill()
            with suppress(BrokenPipeError):
                told.close()
            raise


def _line(value: Mapping[str, object]) -> bytes:
    return json.dumps(value).encode() + b"\n"
