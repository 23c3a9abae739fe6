"""Fill kept replies from a model: ask for what is missing until nothing is.

Each round resolves the use against the known replies, sends a request for each missing one, and
journals each answer as it arrives. An answer that is refused or doubted is requested again with the
reason, at most ``asks`` times, counted over all runs. Then the best of the doubted answers is
stored; without one, the request has failed, and nothing is stored.
"""

import asyncio
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic

from bears.files.journal import Append
from bears.files.shown import complain
from bears.llm.faults import BudgetExhausted, ClientError, RequestRefused, RunStopped
from bears.llm.use import CheckedReply, KeptReplies, KeptReply, R, Request, Use, is_whole
from bears.llm.wire import ChatAnswer, ChatRequest

if TYPE_CHECKING:
    from bears.llm.client import Online

SHOWN = 10
"""How many failures to print."""
CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
"""Control characters, which broken tokenizers produce."""


class Tries:
    """The refused and doubted answers for each key since its request last failed.

    Args:
        name: of the use.
        rows: of the use in the journal.
    """

    def __init__(self, name: str, rows: Iterable[Mapping[str, Any]]) -> None:
        self.reasons: dict[str, list[str]] = {}
        """Why the last answer was not stored; the next request says so."""
        self.best: dict[str, CheckedReply] = {}
        """The answer with the fewest doubts, of those that may be stored."""
        self._counts = Counter[str]()
        for row in rows:
            # A row without a model is not an answer.
            if "model" in row and (reasons := row["reasons"]):
                pair = ([], reasons) if row.get("storable") else (reasons, [])
                self.add(row["key"], CheckedReply(row[name], *pair))
                if row["kind"] == "failure":
                    del self._counts[row["key"]]

    def add(self, key: str, reply: CheckedReply) -> int:
        """Add an answer that was not stored and return how many its key has now."""
        self.reasons[key] = reply.refusals + reply.doubts
        best = self.best.get(key, reply)
        if not reply.refusals and len(reply.doubts) <= len(best.doubts):
            self.best[key] = reply
        self._counts[key] += 1
        return self._counts[key]


@dataclass
class FillReport:
    """The result of one fill.

    Args:
        answered: how many replies came, good or not.
        unusable: how many of them were refused or doubted.
        stored: how many replies were stored.
        missing: how many requests still have no reply, including those that wait for others.
        failed: the request of each key that failed, and why.
        stopped: why the fill ended early.
        usd: the cost, including lost answers.
    """

    answered: int = 0
    unusable: int = 0
    stored: int = 0
    missing: int = 0
    failed: dict[str, tuple[Request, list[str]]] = field(default_factory=dict)
    stopped: str = ""
    usd: float = 0.0

    def show(self, hint: str = "") -> None:
        """Print the result and the first failures; a hint follows replies that are unusable."""
        print(f"{self.answered} replies, {self.stored} stored; US$ {self.usd:.4f} spent")
        if self.unusable:
            share = f"{self.unusable / self.answered:.1%} of them ({self.unusable})"
            complain(f"{share} could not be used as they came{hint and f'; {hint}'}")
        for request, reasons in list(self.failed.values())[:SHOWN]:
            complain(f"failed: {request.record_id} {request.field}: {'; '.join(reasons)}")


@dataclass
class Filling(Generic[R]):
    """One fill.

    Args:
        use: finds the requests, builds them, and checks the answers.
        known: the replies so far; grows.
        tries: the answers of earlier runs; grows.
        append: journals one row; its future resolves once the row is on disk.
        progress: called with (requests finished, requests known) after each answer.
    """

    use: Use[R]
    known: KeptReplies
    tries: Tries
    append: Append
    progress: Callable[[int, int], None]

    def __post_init__(self) -> None:
        self._report = FillReport()
        self._asked: dict[str, R] = {}
        # Of all rounds. Requests that turn out to share a key are counted once.
        self._finished = self._known_of = 0

    async def run(self, backend: "Online") -> FillReport:
        """Send requests to ``backend``, round after round, until nothing more can be done."""
        report = self._report
        left = self.use.resolve(self.known)
        asking = self._asking(left.missing)
        while not report.stopped and (first := next(asking, None)) is not None:
            try:
                async for chat, answer in backend.answers(chain([first], asking), self._keep):
                    self._finished += 1
                    if isinstance(answer, ChatAnswer):
                        report.answered += 1
                    else:
                        self._fail(chat.key, answer)
                    self.progress(self._finished, self._known_of)
            except RunStopped as stopped:
                report.stopped = str(stopped)
            left = self.use.resolve(self.known)
            asking = self._asking(left.missing)
        wanted = chain(left.missing, left.waiting)
        report.missing = len({self.use.key(request) for request in wanted})
        return report

    def _asking(self, missing: Sequence[R]) -> Iterator[ChatRequest]:
        """Yield the requests of a new round: each key once, without those that failed.

        A key is computed only when its request is taken, so the first ones start at once.
        """
        self._asked = {}
        self._known_of += len(missing)
        for request in missing:
            key = self.use.key(request)
            if key in self._asked or key in self._report.failed:
                self._known_of -= 1
            else:
                self._asked[key] = request
                yield self.use.ask(request, self.tries.reasons.get(key, []))

    def _fail(self, key: str, error: ClientError) -> None:
        """Record in the journal why a request has no answer."""
        if isinstance(error, BudgetExhausted):
            self._report.stopped = str(error)
        else:
            final = isinstance(error, RequestRefused)
            self._write("failure", key, CheckedReply("", [str(error)], []), None, final)
            self._report.failed[key] = (self._asked[key], [str(error)])

    async def _keep(self, chat: ChatRequest, answer: ChatAnswer) -> None:
        """Check and journal one answer; its place is free once the row is on disk."""
        key = chat.key
        reply = self._checked(key, answer)
        if reply.refusals or reply.doubts:
            self._report.unusable += 1
            last = self.tries.add(key, reply) >= self.use.settings.asks
            best = self.tries.best.get(key)
            if last and best:
                # First, so that a crash between the two rows does not cause another request.
                self._store(key, best, None)
            elif last:
                self._report.failed[key] = (self._asked[key], self.tries.reasons[key])
            kind = "failure" if last and not best else "refused"
            written = self._write(kind, key, reply, answer)
        else:
            written = self._store(key, reply, answer)
        await asyncio.wrap_future(written)

    def _checked(self, key: str, answer: ChatAnswer) -> CheckedReply:
        request = self._asked[key]
        reply = self.use.check(request, answer)
        if not is_whole(reply.text, *reply.refusals, *reply.doubts):
            return CheckedReply("", ["it has half of a character (a lone surrogate)"], [])
        if set(CONTROL.findall(reply.text)).difference(request.text):
            return CheckedReply("", ["it has control characters"], [])
        return reply

    def _store(self, key: str, reply: CheckedReply, answer: ChatAnswer | None) -> "Future[None]":
        written = self._write(self.use.name, key, reply, answer)
        request = self._asked[key]
        self.known.add(KeptReply(key, "", request.field, request.text, reply.text))
        self._report.stored += 1
        return written

    def _write(
        self,
        kind: str,
        key: str,
        reply: CheckedReply,
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
            self.use.name: reply.text,
            "reasons": reply.refusals + reply.doubts,
        }
        if kind == "refused" and not reply.refusals:
            row["storable"] = True
        if final:
            # The server refuses this very request, and would do so again.
            row["final"] = True
        if answer is not None:
            row["model"] = answer.model
            row["input_tokens"], row["output_tokens"] = answer.input_tokens, answer.output_tokens
        return self.append(row)
