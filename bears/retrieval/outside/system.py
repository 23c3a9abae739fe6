"""A retriever that runs elsewhere: a function of the project, or an address."""

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Annotated, Any

import httpx2
from pydantic import Field
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from bears.config import checkout
from bears.config.typed import named
from bears.errors import ConfigurationError, FormatError, StoreError, first_line
from bears.files.digest import digest_of
from bears.files.intake.json_text import json_value
from bears.files.journal import Journal
from bears.files.records import read_lines, write_lines
from bears.files.shown import complain, one_line
from bears.layout import LOCAL
from bears.llm.endpoint import environment
from bears.retrieval.outside.matching import PassageMatcher
from bears.retrieval.outside.replies import Reply, replies
from bears.retrieval.retriever import Query, Stopwatch
from bears.types import Chunk, Document, Hit, Positive, Ranking

TEXTS = "documents.jsonl"
KEY = "retriever"


@dataclass(frozen=True, slots=True)
class OutsideRetriever:
    """A system that is asked over again for each question.

    Its passages are matched to documents by id, path or text. Give ``call`` or ``url``.

    Args:
        call: ``module:function`` of the project, called with a question and ``k``; returns what
            `bears.retrieval.outside.replies.replies` reads.
        url: gets POST with ``{"query": …, "k": …}`` and returns a list of mappings with ``id``,
            ``source``, ``text``, ``start``.
        k: how many passages are asked for.
        headers_env: the environment variable, or the word in .env, with lines ``Name: value``.
        keep: keep the replies in .bears/outside/, so that a later run asks nothing again.
        attempts: of a question that fails by a status of 429 or 5xx, or without an answer.
        timeout_s: for the whole answer to one attempt.
        requests_per_minute: null: as fast as it answers.
        most_bytes: of a reply; a longer one is a failure.
        failing: the share of questions that may fail.
    """

    call: str = ""
    url: str = ""
    k: Positive = 100
    headers_env: str = ""
    keep: bool = False
    attempts: Positive = 3
    timeout_s: Annotated[float, Field(gt=0)] = 30
    requests_per_minute: Annotated[float, Field(gt=0)] | None = None
    most_bytes: Positive = 8_000_000
    failing: Annotated[float, Field(ge=0, le=1)] = 0

    def __post_init__(self) -> None:
        if bool(self.call) == bool(self.url):
            raise ConfigurationError(
                f"{KEY}.call is {self.call!r} and {KEY}.url is {self.url!r}; give one of them"
            )

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:  # noqa: ARG002
        """Write the texts, with which passages are matched; the system has its own index."""
        rows = ({"name": each.doc_id, "text": each.content} for each in documents)
        write_lines(folder / TEXTS, rows)

    def open(self, folder: Path) -> "OutsideSearcher":
        """Read the texts, and the replies that are kept."""
        parts: dict[str, list[tuple[int, str]]] = {}
        for _, row in read_lines(folder / TEXTS):
            name, text = row["name"], row["text"]
            chunk = Chunk.named(name) or Chunk(name, 0, len(text))
            parts.setdefault(chunk.doc_id, []).append((chunk.start, text))
        documents: dict[str, str] = {}
        for doc_id, ranges in parts.items():
            whole = ""
            for start, text in sorted(ranges):
                # Chunks may overlap, and blank ends may be left out.
                whole = whole[:start].ljust(start) + text + whole[start + len(text) :]
            documents[doc_id] = whole
        # Whether replies are kept, and how many may fail, changes no reply.
        asked = {k: v for k, v in asdict(self).items() if k in ("call", "url", "k")}
        journal = Journal(checkout() / LOCAL / "outside" / f"{digest_of(asked)}.jsonl")
        return OutsideSearcher(self, self._asking(), PassageMatcher(documents), journal)

    def _asking(self) -> Callable[[str], list[Reply]]:
        if self.call:
            call = named(self.call.replace(":", "."), "bears.retrieval", f"{KEY}.call")
            return lambda question: replies(call(question, self.k))
        return _Address(self).ask


class OutsideSearcher:
    """A system, its documents, and its replies so far."""

    def __init__(
        self,
        settings: OutsideRetriever,
        ask: Callable[[str], list[Reply]],
        matcher: PassageMatcher,
        journal: Journal,
    ) -> None:
        self._settings, self._ask, self._matcher, self._journal = settings, ask, matcher, journal
        self._known: dict[str, Mapping[str, Any]] = {row["question"]: row for row in journal.rows()}
        self._failed: dict[str, str] = {}
        self._asked: set[str] = set()
        self.unmatched = 0

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the best ``k`` chunks for each query; none if the system fails.

        Raises:
            ConfigurationError: a question belongs to a group, in which the system cannot search.
        """
        if any(query.group for query in queries):
            raise ConfigurationError(
                f"{KEY}: a system that runs elsewhere cannot search in the groups of this "
                "benchmark; choose another retriever"
            )
        return [self._ranking(query.text, stopwatch)[:k] for query in queries]

    def finish(self) -> dict[str, Any]:
        """Return when it was asked, and what failed; forget the replies unless they are kept.

        Raises:
            StoreError: more questions failed than may.
        """
        if len(self._failed) > self._settings.failing * len(self._asked):
            question, reason = next(iter(self._failed.items()))
            raise StoreError(
                f"the system fails on {len(self._failed)} of {len(self._asked)} questions, such as "
                f"{one_line(question)!r:.80}: {reason}. The others are kept: run the same again, "
                f"or let some fail: {KEY}.failing=0.1"
            )
        times = sorted(self._known[each]["asked"] for each in self._asked - self._failed.keys())
        if not self._settings.keep:
            with suppress(FileNotFoundError):
                self._journal.path.unlink()
        found = {"asked": [times[0], times[-1]] if times else [], "failed": [*self._failed]}
        return {**found, "unmatched_passages": self.unmatched}

    def _ranking(self, question: str, stopwatch: Stopwatch) -> Ranking:
        first = question not in self._asked
        self._asked.add(question)
        if question in self._failed or not (row := self._row(question, stopwatch)):
            return ()
        names: dict[str, None] = {}
        for place, each in enumerate(row["replies"]):
            if (name := self._matcher.match(Reply(**each))) is None:
                self.unmatched += first
                name = f"unmatched-{place}"
            names.setdefault(name)
        return tuple(Hit(name, -float(place)) for place, name in enumerate(names))

    def _row(self, question: str, stopwatch: Stopwatch) -> Mapping[str, Any]:
        """Return the reply to a question, asked for only once; empty if the system fails."""
        if row := self._known.get(question):
            spent = stopwatch.seconds
            # Its time is that of the request.
            for stage in ("ask", "total"):
                spent[stage] = spent.get(stage, 0.0) + float(row["seconds"])
            return row
        started = perf_counter()
        try:
            with stopwatch("ask"):
                found = self._ask(question)
        except Exception as error:  # Whatever other people's code raises.
            self._failed[question] = one_line(first_line(error), 200)
            complain(f"the system fails on {one_line(question)!r:.80}: {self._failed[question]}")
            return {}
        row = {
            "question": question,
            "asked": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(perf_counter() - started, 6),
            "replies": [asdict(each) for each in found[: self._settings.k]],
        }
        with self._journal.writer() as append:
            append(row)
        self._known[question] = row
        return row


class _Address:
    """An address that answers questions."""

    def __init__(self, settings: OutsideRetriever) -> None:
        self._settings, self._next, self._lock = settings, 0.0, threading.Lock()
        lines = environment(checkout()).get(settings.headers_env, "").splitlines()
        pairs = (line.partition(":") for line in lines if line.strip())
        self._headers = {name.strip(): value.strip() for name, _, value in pairs}

    def ask(self, question: str) -> list[Reply]:
        """Return the passages for a question, after as many attempts as are allowed."""
        retrying = Retrying(
            stop=stop_after_attempt(self._settings.attempts),
            wait=wait_exponential_jitter(multiplier=0.5, max=30),
            retry=retry_if_exception(_passes),
            reraise=True,
        )
        return replies(retrying(self._once, question))

    def _once(self, question: str) -> Any:
        self._pace()
        ends = monotonic() + self._settings.timeout_s
        content = bytearray()
        asked = {"query": question, "k": self._settings.k}
        limits: dict[str, Any] = {"headers": self._headers, "timeout": self._settings.timeout_s}
        with httpx2.stream("POST", self._settings.url, json=asked, **limits) as response:
            response.raise_for_status()
            for block in response.iter_bytes():
                content += block
                if len(content) > self._settings.most_bytes:
                    raise FormatError(f"a reply of more than {self._settings.most_bytes:,} bytes")
                if monotonic() > ends:
                    raise httpx2.ReadTimeout(f"no whole reply in {self._settings.timeout_s:g} s")
        return json_value(bytes(content), "the reply")

    def _pace(self) -> None:
        if per_minute := self._settings.requests_per_minute:
            with self._lock:
                wait, now = self._next - monotonic(), monotonic()
                self._next = max(self._next, now) + 60 / per_minute
            sleep(max(wait, 0))


def _passes(error: BaseException) -> bool:
    """Return whether another attempt may succeed."""
    if isinstance(error, httpx2.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx2.TransportError)
