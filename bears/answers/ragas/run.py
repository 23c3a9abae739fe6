"""Run ragas in its own environment, with the kept replies to its requests; average its scores."""

import json
import math
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from subprocess import PIPE, Popen
from tempfile import TemporaryFile
from typing import Any

from pydantic import TypeAdapter, ValidationError

from bears.answers.ragas.rows import RagasRow
from bears.config.packaged import CHECKOUT
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.files import json_value
from bears.llm.use import KeptReplies

METRICS = ("faithfulness", "answer_relevancy", "context_precision", "context_recall")
HEADER = ("row", "question", *METRICS, "problems")
LOST = "never came"
MISSING = "no kept reply"


@dataclass(frozen=True, slots=True)
class Score:
    """The score of one row by one metric.

    Args:
        row: its place in the file, from 0.
        value: between 0 and 1; None if ragas gave none.
        problem: why ragas gave none.
    """

    row: int
    metric: str
    value: float | None
    problem: str = ""


def summary(scores: Iterable[Score], rows: int) -> dict[str, dict[str, Any]]:
    """Return the mean of each metric over the rows that it scored, and their number.

    A row without a value is not part of the mean; it is counted by its reason. The mean of no
    values is None.
    """
    by_metric: dict[str, dict[int, Score]] = {name: {} for name in METRICS}
    for score in scores:
        by_metric[score.metric][score.row] = score
    return {name: _of_metric(found.values(), rows) for name, found in by_metric.items()}


def _of_metric(scores: Iterable[Score], rows: int) -> dict[str, Any]:
    scores = list(scores)
    values = [score.value for score in scores if score.value is not None]
    unscored = Counter(kind(score.problem) for score in scores if score.value is None)
    unscored[LOST] += rows - len(scores)
    return {
        "mean": math.fsum(values) / len(values) if values else None,
        "n_scored": len(values),
        "n_total": rows,
        "unscored": {reason: n for reason, n in sorted(unscored.items()) if n},
    }


def kind(problem: str) -> str:
    """Name a problem: no reply to a request, NaN, or the error of ragas."""
    error, _, words = problem.partition(": ")
    # Some rows lack what a metric needs. The messages of other errors are too long.
    return words.partition(". ")[0] if error == "ValueError" and len(words) < 120 else error


def cells(scores: Iterable[Score], questions: Sequence[str]) -> list[list[str]]:
    """Return a row of `HEADER` for each question; its place counts from 1."""
    found = {(score.row, score.metric): score for score in scores}
    rows = []
    for place, question in enumerate(questions):
        of_row = [found.get((place, name), Score(place, name, None, LOST)) for name in METRICS]
        values = ["" if each.value is None else f"{each.value:.6f}" for each in of_row]
        problems = [f"{each.metric}: {each.problem:.300}" for each in of_row if each.value is None]
        rows.append([str(place + 1), question, *values, " | ".join(problems)])
    return rows


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
