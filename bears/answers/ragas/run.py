"""Run ragas in its own environment, and keep the replies that its requests get."""

import json
import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import ClassVar

from pydantic import PositiveInt, TypeAdapter, ValidationError

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.scores import Score
from bears.config.packaged import CHECKOUT
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.json_text import json_value
from bears.files.journal import Append
from bears.llm.endpoint import Access, Endpoint, find_access
from bears.llm.faults import ACCOUNT
from bears.llm.kept import Kept, KeptReply
from bears.llm.models import Models, Price, models_of

NAME = "ragas"
"""The name of this use: the ``kind`` of its journal rows, and their field."""
ENVIRONMENT = Path(".venv-ragas")
INSTALL = f"{ENVIRONMENT}/bin/pip install ragas==0.4.3 'langchain-community<0.4'"
"""As requirements/ragas.in has it."""
PROGRAM = Path(__file__).with_name("program.py")
PASSED = (
    *("PATH", "HOME", "LANG", "TMPDIR", "LD_LIBRARY_PATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy", "no_proxy"),
    *("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
)
"""Environment variables that the program gets. None of them holds a key."""
SHOWN = 1000
"""How many characters of a request are kept for people to read, from its end."""


class RagasFailed(BearsError):
    """ragas stopped before it had scored everything."""


@dataclass(frozen=True, kw_only=True)
class RagasSettings(Endpoint):
    """One conf/ragas/<name>.yaml, which has the meaning of each field."""

    where: ClassVar[str] = "ragas"

    name: str
    embeddings: str
    answer_tokens: PositiveInt

    def prices(self, models: Models) -> dict[str, Price]:
        """Return the prices of both models. Raises ConfigurationError if one is unknown."""
        vectors = replace(self, model=self.embeddings)
        return {"chat": self.price_in(models), "embeddings": vectors.price_in(models)}


@dataclass(frozen=True, slots=True)
class RagasRequest:
    """A request of ragas to a model, as the program prints it.

    Args:
        key: the digest of everything that can change the reply. The rest is empty if it was kept.
        field: ``chat`` or ``embeddings``.
        text: what the request says.
        most_tokens: the longest answer.
        answer: the new reply, if there is one.
        problem: why a model gave no reply; empty if none was asked.
        usd: the price of the answer.
    """

    key: str
    field: str = ""
    text: str = ""
    most_tokens: int = 0
    answer: str = ""
    problem: str = ""
    usd: float = 0.0


_LINE: TypeAdapter[Score | RagasRequest] = TypeAdapter(Score | RagasRequest)


@dataclass
class Evaluated:
    """What ragas has printed.

    Args:
        known: the kept replies by key; grows.
        versions: of the packages.
        scores: in the order in which they came.
        used: the replies that it used, by key.
        missed: the requests without a reply, by key.
        spent: the price of all answers in US dollars.
        problem: why the first request that a model did not answer has no reply.
    """

    known: dict[str, KeptReply]
    versions: dict[str, str] = field(default_factory=dict)
    scores: list[Score] = field(default_factory=list)
    used: dict[str, KeptReply] = field(default_factory=dict)
    missed: dict[str, RagasRequest] = field(default_factory=dict)
    spent: float = 0.0
    problem: str = ""

    def take(self, line: bytes, append: Append | None) -> None:
        """Take one line of the program; ``append`` journals a new reply before this returns."""
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
            return
        self.spent += found.usd
        if found.answer and append:
            entry = KeptReply(found.key, "", found.field, found.text[-SHOWN:], found.answer)
            append(entry.row(NAME) | {"kind": NAME, "reasons": []}).result()
            self.known[found.key] = entry
        if found.key in self.known:
            self.used[found.key] = self.known[found.key]
        else:
            self.missed[found.key] = found
            self.problem = self.problem or found.problem


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
    rows: Sequence[RagasRow],
    settings: RagasSettings,
    kept: Kept,
    show: Callable[[int, float], None] | None = None,
) -> Evaluated:
    """Score rows by all metrics.

    Args:
        kept: the kept replies of `NAME`.
        show: called with (scores so far, dollars spent so far) after each line of the program; None
            to ask no model, which needs no price and no API key.

    Raises:
        ConfigurationError: the environment with ragas, a price or an API key is missing.
        FormatError: a kept reply is not JSON.
        RagasFailed: ragas stopped early.
        OSError: a reply cannot be kept; no more are bought.
    """
    with ExitStack() as stack:
        access, prices, append = Access("", ""), dict[str, Price](), None
        if show:
            access, prices = find_access(settings, kept.root), settings.prices(models_of(kept.root))
            stack.enter_context(kept.journal.exclusive())
            append = stack.enter_context(kept.journal.writer())
        found = Evaluated({entry.key: entry for entry in kept.known()})
        asked = asdict(settings) | {
            "base_url": access.base_url,
            "key": access.key() if show else "",
            "account": ACCOUNT.pattern,
            "prices": {name: asdict(price) for name, price in prices.items()},
            "known": {
                key: json_value(entry.answer.encode(), f"the kept reply {key}")
                for key, entry in found.known.items()
            },
            "rows": [*map(asdict, rows)],
        }

        def take(line: bytes) -> None:
            found.take(line, append)
            if show:
                show(len(found.scores), found.spent)

        if last := _run(json.dumps(asked).encode(), take):
            raise RagasFailed(f"ragas ended after {len(found.scores)} scores: {access.clean(last)}")
    return found


def _run(asked: bytes, take: Callable[[bytes], None]) -> str:
    """Run the program, and pass on its lines; return why it failed, or nothing."""
    env = {name: os.environ[name] for name in PASSED if name in os.environ}
    with (
        TemporaryFile() as errors,
        Popen(
            [python(), "-I", PROGRAM], stdin=PIPE, stdout=PIPE, stderr=errors, env=env
        ) as process,
    ):
        assert process.stdin
        assert process.stdout
        try:
            # It may end before it reads this.
            with suppress(BrokenPipeError), process.stdin:
                process.stdin.write(asked)
            for line in process.stdout:
                take(line)
        except BaseException:
            process.kill()
            raise
        if not process.wait():
            return ""
        errors.seek(0)
        words = errors.read().decode("utf-8", "replace").strip().splitlines()
        return f"status {process.returncode}, {words[-1] if words else 'it printed no reason'}"
