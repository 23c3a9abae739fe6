"""Filling the memory from a model: ask for what is missing until nothing is.

Each round resolves the use against what is known, asks for everything that is missing, and
journals each answer as it arrives. An answer that is refused or doubted is asked for again with the
reason, as often as the settings say, counted over all runs. Then the best of those that were only
doubted is stored; where there is none the request has failed, and nothing is stored.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Generic

from bears.files.journal import Append
from bears.files.shown import complain
from bears.llm.client import Online
from bears.llm.faults import BudgetExhausted, ClientError, RequestRefused, RunStopped
from bears.llm.kept import MemoryEntry, PublishedMemory, is_whole
from bears.llm.use import CheckedReply, R, Request, Use
from bears.llm.wire import ChatAnswer, ChatRequest


class Tries:
    """Answers that were refused or doubted since something was last given up for their key.

    Args:
        name: of the use.
        rows: of the use in the journal.
    """

    def __init__(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.reasons: dict[str, list[str]] = {}
        """Why the last answer was not taken, which is told when asking again."""
        self.best: dict[str, CheckedReply] = {}
        """The answer with the fewest doubts, of those that may be stored."""
        self._counts = Counter[str]()
        for row in rows:
            # A row without a model is none of an answer.
            if "model" in row and (reasons := row["reasons"]):
                pair = ([], reasons) if row.get("storable") else (reasons, [])
                self.note(row["key"], CheckedReply(row[name], *pair))
                if row["kind"] == "failure":
                    del self._counts[row["key"]]

    def note(self, key: str, verdict: CheckedReply) -> int:
        """Count an answer that was not taken; returns how many there are of its key."""
        self.reasons[key] = verdict.refusals + verdict.doubts
        best = self.best.get(key, verdict)
        if not verdict.refusals and len(verdict.doubts) <= len(best.doubts):
            self.best[key] = verdict
        self._counts[key] += 1
        return self._counts[key]


SHOWN = 10
"""Failures that a person is told."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
"""What broken tokenisers leave, and no text has."""


@dataclass
class FillReport:
    """What one filling did.

    Args:
        answered: answers that came, good or not.
        stored: answers that were stored.
        missing: requests that are still without one, those included that wait for another.
        failed: key to the request and why nothing could be stored for it.
        stopped: why the filling ended early.
        usd: what it cost, lost answers included.
    """

    answered: int = 0
    stored: int = 0
    missing: int = 0
    failed: dict[str, tuple[Request, list[str]]] = field(default_factory=dict)
    stopped: str = ""
    usd: float = 0.0

    def tell(self, name: str) -> None:
        """Print what came of it, and the first requests that failed; ``name`` is the use's."""
        print(f"{self.answered} answers, {self.stored} {name}s stored; US$ {self.usd:.4f} spent")
        for request, reasons in list(self.failed.values())[:SHOWN]:
            complain(f"failed: {request.record_id} {request.field}: {'; '.join(reasons)}")


class Filling(Generic[R]):
    """Asks for everything that is missing.

    Args:
        use: walks what it needs, says what to ask for, and judges the answers.
        known: what is there; grows.
        tries: what was asked in earlier runs; grows.
        append: journals one row; its future resolves once the row is on disk.
        progress: told (requests finished, requests known of) after each answer.
    """

    def __init__(
        self,
        use: Use[R],
        known: PublishedMemory,
        tries: Tries,
        append: Append,
        progress: Callable[[int, int], None],
    ) -> None:
        self._use, self._known, self._tries = use, known, tries
        self._append, self._progress = append, progress
        self._report = FillReport()
        self._asked: dict[str, R] = {}
        self._sent: set[str] = set()
        # Requests of all rounds; those that turn out to be one were counted as several.
        self._finished = self._known_of = 0

    async def run(self, backend: Online) -> FillReport:
        """Ask ``backend``, round after round, until nothing is missing or nothing more helps."""
        report = self._report
        left = self._use.resolve(self._known)
        asking = self._asking(left.missing)
        while not report.stopped and (first := next(asking, None)) is not None:
            try:
                async for chat, answer in backend.answers(chain([first], asking), self._keep):
                    self._finished += 1
                    if isinstance(answer, ChatAnswer):
                        report.answered += 1
                    else:
                        self._fail(chat.key, answer)
                    self._progress(self._finished, self._known_of)
            except RunStopped as stopped:
                report.stopped = str(stopped)
            left = self._use.resolve(self._known)
            asking = self._asking(left.missing)
        wanted = chain(left.missing, left.waiting)
        report.missing = len({self._use.key(request) for request in wanted})
        return report

    def _asking(self, missing: Sequence[R]) -> Iterator[ChatRequest]:
        """What to send for a new round: each key once, without what was given up.

        Nothing is keyed before it is taken, so the first requests need not wait for the last.
        """
        self._asked = {}
        self._known_of += len(missing)
        for request in missing:
            key = self._use.key(request)
            if key in self._asked or key in self._report.failed or not self._may_send(key):
                self._known_of -= 1
            else:
                self._asked[key] = request
                self._sent.add(key)
                yield self._use.ask(request, self._tries.reasons.get(key, []))

    def _may_send(self, key: str) -> bool:
        limit = self._use.settings.limit
        return limit is None or key in self._sent or len(self._sent) < limit

    def _fail(self, key: str, error: ClientError) -> None:
        """Journal why a request has no answer."""
        if isinstance(error, BudgetExhausted):
            self._report.stopped = str(error)
        else:
            final = isinstance(error, RequestRefused)
            self._write("failure", key, CheckedReply("", [str(error)], []), None, final)
            self._report.failed[key] = (self._asked[key], [str(error)])

    async def _keep(self, chat: ChatRequest, answer: ChatAnswer) -> None:
        """Judge one answer and journal it; its place is free when it is on disk."""
        await asyncio.wrap_future(self._judge(chat.key, answer))

    def _judge(self, key: str, answer: ChatAnswer) -> "Future[None]":
        verdict = self._verdict(key, answer)
        if not verdict.refusals and not verdict.doubts:
            return self._store(key, verdict, answer)
        last = self._tries.note(key, verdict) >= self._use.settings.asks
        best = self._tries.best.get(key)
        if last and best:
            # First, so that a kill between the two rows does not ask once more.
            self._store(key, best, None)
        elif last:
            self._report.failed[key] = (self._asked[key], self._tries.reasons[key])
        return self._write("failure" if last and not best else "refused", key, verdict, answer)

    def _verdict(self, key: str, answer: ChatAnswer) -> CheckedReply:
        request = self._asked[key]
        verdict = self._use.check(request, answer)
        if not is_whole(verdict.text, *verdict.refusals, *verdict.doubts):
            return CheckedReply("", ["it has half of a character (a lone surrogate)"], [])
        if set(CONTROL.findall(verdict.text)).difference(request.text):
            return CheckedReply("", ["it has control characters"], [])
        return verdict

    def _store(self, key: str, verdict: CheckedReply, answer: ChatAnswer | None) -> "Future[None]":
        written = self._write(self._use.name, key, verdict, answer)
        request = self._asked[key]
        self._known.add(MemoryEntry(key, "", request.field, request.text, verdict.text))
        self._report.stored += 1
        return written

    def _write(
        self,
        kind: str,
        key: str,
        verdict: CheckedReply,
        answer: ChatAnswer | None,
        final: bool = False,
    ) -> "Future[None]":
        request = self._asked[key]
        row: dict[str, Any] = {
            "kind": kind,
            "key": key,
            "record_id": request.record_id,
            "field": request.field,
            "text": request.text,
            self._use.name: verdict.text,
            "reasons": verdict.refusals + verdict.doubts,
        }
        if kind == "refused" and not verdict.refusals:
            row["storable"] = True
        if final:
            # The server refuses this very request: it would again.
            row["final"] = True
        if answer is not None:
            row["model"] = answer.model
            row["input_tokens"], row["output_tokens"] = answer.input_tokens, answer.output_tokens
        return self._append(row)
