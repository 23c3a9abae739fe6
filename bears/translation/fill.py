"""Filling the memory from a model: ask for what is missing until nothing is.

Each round resolves the benchmark against what is known, asks for everything that is missing, and
journals each answer as it arrives. A translation that a gate refuses is asked for again with the
reason; after the last try it is recorded as failed, and never stored as a translation.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from bears.client.batch import BatchApi
from bears.client.chat import Online
from bears.client.errors import BudgetExhausted, ClientError, RunStopped
from bears.client.wire import ChatAnswer, ChatRequest
from bears.formats.journal import Append
from bears.translation.memory import MemoryEntry, PublishedMemory, TranslationRequest
from bears.translation.reply_check import CheckedReply
from bears.translation.task import TranslationTask


@dataclass
class FillReport:
    """What one filling did.

    Args:
        answered: requests that came back, with a translation or without.
        stored: translations that were stored.
        missing: texts that are still without one, those included that wait for another.
        failed: key to the request and why nothing could be stored for it.
        stopped: why the filling ended early.
    """

    answered: int = 0
    stored: int = 0
    missing: int = 0
    failed: dict[str, tuple[TranslationRequest, list[str]]] = field(default_factory=dict)
    stopped: str = ""


class Filling:
    """Asks for everything that is missing.

    Args:
        task: walks the benchmark, says what to ask for, and judges the answers.
        known: what is there; grows.
        reasons: why a model's last answer to a key was refused, which is told when asking again.
        append: journals one row; its future resolves once the row is on disk.
        progress: told (requests finished, requests known of) after each answer.
    """

    def __init__(
        self,
        task: TranslationTask,
        known: PublishedMemory,
        reasons: dict[str, list[str]],
        append: Append,
        progress: Callable[[int, int], None],
    ) -> None:
        self._task, self._known, self._reasons = task, known, reasons
        self._append, self._progress = append, progress
        self._report = FillReport()
        self._tries: dict[str, int] = {}
        self._best: dict[str, CheckedReply] = {}
        self._writing: list[Future[None]] = []
        self._asked: dict[str, TranslationRequest] = {}
        # Requests of all rounds; those that turn out to be one were counted as several.
        self._known_of = 0

    async def run(self, backend: Online | BatchApi) -> FillReport:
        """Ask ``backend``, round after round, until nothing is missing or nothing more helps."""
        report = self._report
        left = self._task.resolve(self._known)
        asking = self._asking(left.missing)
        while not report.stopped and (first := next(asking, None)) is not None:
            try:
                async for chat, answer in backend.answers(chain([first], asking)):
                    report.answered += 1
                    self._take(chat.key, answer)
                    self._progress(report.answered, self._known_of)
            except RunStopped as stopped:
                report.stopped = str(stopped)
            finally:
                await self._on_disk()
            left = self._task.resolve(self._known)
            asking = self._asking(left.missing)
        wanted = chain(left.missing, left.waiting)
        report.missing = len({self._task.translator.key(request) for request in wanted})
        return report

    def _asking(self, missing: Sequence[TranslationRequest]) -> Iterator[ChatRequest]:
        """What to send for a new round: each key once, without what was given up.

        Nothing is keyed before it is taken, so the first requests need not wait for the last.
        """
        self._asked = {}
        self._known_of += len(missing)
        for request in missing:
            key = self._task.translator.key(request)
            if key in self._asked or key in self._report.failed:
                self._known_of -= 1
            else:
                self._asked[key] = request
                yield self._task.ask(request, self._reasons.get(key, []))

    def _take(self, key: str, answer: ChatAnswer | ClientError) -> None:
        """Judge one answer and journal it."""
        if isinstance(answer, ChatAnswer):
            self._judge(key, answer)
        elif isinstance(answer, BudgetExhausted):
            self._report.stopped = str(answer)
        else:
            self._write("failure", key, CheckedReply("", [str(answer)], []), None)
            self._report.failed[key] = (self._asked[key], [str(answer)])

    def _judge(self, key: str, answer: ChatAnswer) -> None:
        verdict = self._task.check(self._asked[key], answer)
        self._tries[key] = self._tries.get(key, 0) + 1
        last = self._tries[key] >= self._task.settings.asks
        if not verdict.refusals and not verdict.doubts:
            self._store(key, verdict, answer)
            return
        self._reasons[key] = verdict.refusals + verdict.doubts
        best = self._best.get(key, verdict)
        if not verdict.refusals and len(verdict.doubts) <= len(best.doubts):
            self._best[key] = verdict
        kind = "failure" if last and key not in self._best else "refused"
        self._write(kind, key, verdict, answer)
        if last and key in self._best:
            self._store(key, self._best[key], None)
        elif last:
            self._report.failed[key] = (self._asked[key], self._reasons[key])

    def _store(self, key: str, verdict: CheckedReply, answer: ChatAnswer | None) -> None:
        self._write("translation", key, verdict, answer)
        request = self._asked[key]
        self._known.add(MemoryEntry(key, "", request.field, request.text, verdict.translation))
        self._report.stored += 1

    def _write(self, kind: str, key: str, verdict: CheckedReply, answer: ChatAnswer | None) -> None:
        request = self._asked[key]
        row: dict[str, Any] = {
            "kind": kind,
            "key": key,
            "record_id": request.record_id,
            "field": request.field,
            "text": request.text,
            "translation": verdict.translation,
            "reasons": verdict.refusals + verdict.doubts,
        }
        if answer is not None:
            row["model"] = answer.model
            row["input_tokens"], row["output_tokens"] = answer.input_tokens, answer.output_tokens
        self._writing.append(self._append(row))
        if self._task.settings.backend == "batch":
            # A batch is closed, and never read again, after its last row.
            self._writing[-1].result()

    async def _on_disk(self) -> None:
        """Wait until everything is journalled; raises what writing raised."""
        writing, self._writing = self._writing, []
        for future in writing:
            # Nearly all are done by now.
            if not future.done():
                await asyncio.wrap_future(future)
            future.result()
