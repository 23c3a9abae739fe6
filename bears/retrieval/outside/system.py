"""A system that runs elsewhere: a function of the project, or an address."""

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Annotated, Any, ClassVar

import httpx2
from pydantic import Field
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential_jitter

from bears.config import checkout
from bears.config.code import Modules
from bears.config.packaged import CODE_FOLDERS
from bears.config.reads import reads_of, recorded, remember
from bears.config.secrets import check_address
from bears.config.typed import named, parse
from bears.errors import ConfigurationError, FormatError, StoreError, first_line
from bears.files.intake.files import json_value
from bears.files.journal import Journal
from bears.files.records import digest_of, read_lines, write_lines
from bears.files.shown import complain
from bears.files.visible import one_line
from bears.layout import LOCAL
from bears.llm.models import value_of
from bears.retrieval.outside.matching import PassageMatcher, Reply, Step, matched, reply_of
from bears.retrieval.retriever import Query, Stopwatch
from bears.types import Chunk, Document, IndexedChunk, Positive, Ranking, in_order

TEXTS = "documents.jsonl"
HEADER = re.compile(r"([\w!#$%&'*+.^`|~-]+):\s*([\x20-\x7e]*)", re.ASCII)


@dataclass(frozen=True)
class OutsideSettings:
    """Where a system runs, and how it is asked. Give ``call``, ``url`` or ``url_env``.

    Args:
        call: ``module:function`` of the project, called with a question and ``k``; returns what
            `bears.retrieval.outside.matching.reply_of` reads.
        url: gets POST with ``{"query": …, "k": …}`` and returns a list of mappings with ``id``,
            ``source``, ``text``, ``start``; or ``{"answer": …, "passages": [such a list]}``.
        url_env: the environment variable, or the word in .env, with an address that holds a key.
        k: how many passages are asked for.
        headers_env: the environment variable, or the word in .env, with lines ``Name: value``.
        keep: keep the replies in .bears/outside/, so that a later run asks nothing again.
        attempts: of a question that fails by a status of 429 or 5xx, or without an answer.
        timeout_s: for the whole answer to one attempt.
        requests_per_minute: null: as fast as it answers.
        most_bytes: of a reply; a longer one is a failure.
        failing: the share of questions that may fail.
    """

    part: ClassVar[str]
    """The part of the configuration that these settings are."""

    call: str = ""
    url: str = ""
    url_env: str = ""
    k: Positive = 100
    headers_env: str = ""
    keep: bool = False
    attempts: Positive = 3
    timeout_s: Annotated[float, Field(gt=0)] = 30
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    most_bytes: Positive = 8_000_000
    failing: Annotated[float, Field(ge=0, le=1)] = 0

    def __post_init__(self) -> None:
        if sum(map(bool, (self.call, self.url, self.url_env))) != 1:
            raise ConfigurationError(
                f"{self.part}.call is {self.call!r} and {self.part}.url is {self.url!r}; give one "
                f"of them, or {self.part}.url_env"
            )

    def address(self) -> str:
        """Return where it is asked; empty if it is a function. Raises ConfigurationError."""
        address = self.url or value_of(self.url_env, f"{self.part}.url_env", checkout())
        if address:
            check_address(address, f"{self.part}.{'url' if self.url else 'url_env'}")
        return address


@dataclass(frozen=True)
class OutsideRetriever(OutsideSettings):
    """A system that is asked over again for each question.

    Its passages are matched to documents by id, path or text.
    """

    part = "retriever"

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:  # noqa: ARG002
        """Write the texts, with which passages are matched; the system has its own index."""
        write_lines(folder / TEXTS, map(text_of, documents))

    def open(self, folder: Path) -> "OutsideSearcher":
        """Read the texts, and the replies that are kept."""
        documents = whole_texts(row for _, row in read_lines(folder / TEXTS))
        return OutsideSearcher(OutsideSystem(self), PassageMatcher(documents))


class OutsideSystem:
    """A system and its replies so far, which `retrieve` and `generate` share.

    Replies serve each of them once, or any number of times with ``keep``. A run that was cut off
    continues.
    """

    def __init__(self, settings: OutsideSettings) -> None:
        self._settings, self._function = settings, settings.call.replace(":", ".")
        self._read, self._seen = set[str](), 0
        with recorded(self._read):
            self._ask = _asking(settings)
        self._journal, self._more = Journal(path := self._place()), False
        rows = list(self._journal.rows())
        if {"served": settings.part} in rows and not settings.keep:
            path.unlink()
            rows = []
        self._known = {
            (row["question"], row.get("repeat", 1)): _kept(row) for row in rows if "steps" in row
        }
        self.failed: dict[tuple[str, int], str] = {}
        """Questions, and their repeats, on which the system failed, with the reason."""
        self._asked: set[tuple[str, int]] = set()

    def reply(self, question: str, repeat: int = 1) -> Reply | None:
        """Return the reply to a question, asked for only once; None if the system fails.

        Args:
            repeat: which time it is asked.
        """
        asked = question, repeat
        self._asked.add(asked)
        if asked in self.failed or asked in self._known:
            return self._known.get(asked)
        started = perf_counter()
        try:
            with recorded(self._read):
                found = reply_of(self._ask(question), question)
        except Exception as error:  # Whatever other people's code raises.
            self.failed[asked] = one_line(first_line(error), 200)
            complain(f"the system fails on {one_line(question)!r:.80}: {self.failed[asked]}")
            return None
        row = {
            "question": question,
            **({"repeat": repeat} if repeat > 1 else {}),
            "asked": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(perf_counter() - started, 6),
            "steps": [self._cut(step) for step in found.steps],
            "calls": [asdict(call) for call in found.calls],
            "answer": found.answer,
            "confidence": found.confidence,
        }
        self._remember()
        self._append(row)
        self._known[asked] = _kept(row)
        return self._known[asked]

    def missing(self, questions: Iterable[str]) -> list[str]:
        """Return the questions without a kept reply, each once."""
        return [each for each in dict.fromkeys(questions) if (each, 1) not in self._known]

    def finish(self) -> dict[str, Any]:
        """Return when the system was ``asked`` first and last, and on what it ``failed`` and why.

        Raises:
            StoreError: more questions failed than may.
        """
        if len(self.failed) > self._settings.failing * len(self._asked):
            (question, _), reason = next(iter(self.failed.items()))
            raise StoreError(
                f"the system fails on {len(self.failed)} of {len(self._asked)} questions, such as "
                f"{one_line(question)!r:.80}: {reason}. The others are kept: run the same again, "
                f"or let some fail: {self._settings.part}.failing=0.1"
            )
        if not self._more:
            self._append({"served": self._settings.part})
        times = sorted(self._known[each].asked for each in self._asked - self.failed.keys())
        failed = {question: reason for (question, _), reason in self.failed.items()}
        return {"asked": [times[0], times[-1]] if times else [], "failed": failed}

    def _place(self) -> Path:
        """Return the path of the journal; that of another version of a function is another one."""
        # Whether replies are kept, and how many may fail, changes no reply.
        url, k = self._settings.address(), self._settings.k
        asked: dict[str, Any] = {"call": self._settings.call, "url": url, "k": k}
        if self._function:
            asked["code"] = Modules(Path.cwd(), CODE_FOLDERS).digest([self._function])
        return checkout() / LOCAL / "outside" / f"{digest_of(asked)}.jsonl"

    def _remember(self) -> None:
        """Keep what the function read, which is part of its version from now on.

        DVC then runs the stage once more, which asks nothing again.
        """
        if not self._function or len(self._read) == self._seen:
            return
        self._seen = len(self._read)
        known = {path for path, _ in reads_of(self._function, Path.cwd())}
        known |= Modules(Path.cwd(), CODE_FOLDERS).files([self._function])
        if new := self._read - known:
            before = self._place()
            remember(self._function, new)
            self._journal, self._more = Journal(self._place()), True
            if before.exists():
                before.replace(self._journal.path)

    def _cut(self, step: Step) -> dict[str, Any]:
        passages = (step.passages or ())[: self._settings.k]
        return asdict(replace(step, passages=passages))

    def _append(self, row: Mapping[str, Any]) -> None:
        with self._journal.writer() as append:
            append(row)


class OutsideSearcher:
    """A system and the documents of a benchmark.

    Attributes:
        places: the chunk of each name that a search returned.
    """

    def __init__(self, system: OutsideSystem, matcher: PassageMatcher) -> None:
        self.places: dict[str, Chunk] = {}
        self._system, self._matcher = system, matcher
        self._unmatched: dict[str, int] = {}

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the best ``k`` chunks for each query; none if the system fails.

        Raises:
            ConfigurationError: a question belongs to a group, in which the system cannot search.
        """
        if any(query.group for query in queries):
            raise ConfigurationError(
                "retriever: a system that runs elsewhere cannot search in the groups of this "
                "benchmark; choose another retriever"
            )
        return [self._ranking(query.text, stopwatch)[:k] for query in queries]

    def finish(self) -> dict[str, Any]:
        """Return what `OutsideSystem.finish` does, and the number of ``unmatched_passages``."""
        return {**self._system.finish(), "unmatched_passages": sum(self._unmatched.values())}

    def _ranking(self, question: str, stopwatch: Stopwatch) -> Ranking:
        started = perf_counter()
        if (reply := self._system.reply(question)) is None:
            return ()
        # Its time is that of the request, whenever it was sent.
        asking = reply.seconds or 0.0
        spent = max(asking - (perf_counter() - started), 0.0)
        for stage, seconds in (("ask", asking), ("total", spent)):
            stopwatch.seconds[stage] = stopwatch.seconds.get(stage, 0.0) + seconds
        chunks = self._matcher.chunks(reply.passages)
        self._unmatched[question] = sum(not matched(chunk) for chunk in chunks)
        # Names of chunks and ids of documents could be alike.
        names = {chunk: chunk.name if chunk.end is None else f"\0{chunk.name}" for chunk in chunks}
        self.places |= {name: chunk for chunk, name in names.items()}
        return in_order(names[chunk] for chunk in chunks)


def _kept(row: Mapping[str, Any]) -> Reply:
    """Return the reply in a line of the journal."""
    fields = {name: row[name] for name in row.keys() - {"question", "repeat"}}
    return parse(Reply, fields, "the journal of a system")


def text_of(document: Document) -> dict[str, Any]:
    """Return the text of a document, or of a chunk and where it begins."""
    chunk = document.chunk if isinstance(document, IndexedChunk) else Chunk(document.doc_id)
    return {"doc_id": chunk.doc_id, "start": chunk.start, "text": document.content}


def whole_texts(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return doc_id to text, from what `text_of` returned."""
    parts: dict[str, list[tuple[int, str]]] = {}
    for row in rows:
        parts.setdefault(row["doc_id"], []).append((row["start"], row["text"]))
    documents: dict[str, str] = {}
    for doc_id, ranges in parts.items():
        whole = ""
        for start, text in sorted(ranges):
            # Chunks may overlap, and blank ends may be left out.
            whole = whole[:start].ljust(start) + text + whole[start + len(text) :]
        documents[doc_id] = whole
    return documents


def _asking(settings: OutsideSettings) -> Callable[[str], Any]:
    """Return the function that asks a system one question."""
    if settings.call:
        where = f"{settings.part}.call"
        call = named(settings.call.replace(":", "."), "bears.retrieval", where)
        return lambda question: call(question, settings.k)
    return _Address(settings).ask


class _Address:
    """An address that answers questions."""

    def __init__(self, settings: OutsideSettings) -> None:
        self._settings, self._next = settings, 0.0
        self._url, name = settings.address(), settings.headers_env
        text = value_of(name, f"{settings.part}.headers_env", checkout())
        headers = [HEADER.fullmatch(line.strip()) for line in text.splitlines() if line.strip()]
        if None in headers:
            # The line may be a secret.
            raise ConfigurationError(
                f"{name} has {len(headers)} lines, and line {headers.index(None) + 1} is not a "
                "header; expected `Name: value` in ASCII, such as `Authorization: Bearer …`"
            )
        self._headers = {each[1]: each[2] for each in headers if each}

    def ask(self, question: str) -> Any:
        """Return the reply to a question, after as many attempts as are allowed."""
        retrying = Retrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait_exponential_jitter(multiplier=0.5, max=30),
            retry=retry_if_exception_type(httpx2.TransportError),
            reraise=True,
        )
        return retrying(self._once, question)

    def _once(self, question: str) -> Any:
        if self._settings.requests_per_minute:
            sleep(max(self._next - monotonic(), 0))
            self._next = monotonic() + 60 / self._settings.requests_per_minute
        try:
            content = asyncio.run(self._content(question))
        except TimeoutError:
            message = f"no whole reply in {self._settings.timeout_s:g} s"
            raise httpx2.ReadTimeout(message) from None
        return json_value(content, "the reply")

    async def _content(self, question: str) -> bytes:
        content, asked = bytearray(), {"query": question, "k": self._settings.k}
        async with (
            # For all of it; the client's own limit restarts with every line of the headers.
            asyncio.timeout(self._settings.timeout_s),
            httpx2.AsyncClient(headers=self._headers, timeout=None) as client,
            client.stream("POST", self._url, json=asked) as response,
        ):
            # The client's own messages have the whole address.
            if response.status_code == 429 or response.status_code >= 500:
                raise httpx2.TransportError(f"it answers status {response.status_code}")
            if not response.is_success:
                raise FormatError(f"it answers status {response.status_code}")
            async for block in response.aiter_bytes():
                content += block
                if len(content) > self._settings.most_bytes:
                    raise FormatError(f"a reply of more than {self._settings.most_bytes:,} bytes")
        return bytes(content)
