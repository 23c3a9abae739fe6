"""Filling the memory from a model: ask for what is missing until nothing is.

Each round resolves the benchmark against what is known, asks for everything that is missing, and
journals each answer as it arrives. A translation that a gate refuses is asked for again with the
reason; after the last try it is recorded as failed, and never stored as a translation.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Protocol

from bears.client.errors import BudgetExhausted, ClientError, RunStopped
from bears.client.wire import ChatAnswer, ChatRequest
from bears.formats.journal import Journal
from bears.translation.memory import Entry, Memory, Request, Translator
from bears.translation.work import Lookup, Resolution

# An answer in the form of the schema, whole or broken.
ANSWERED = re.compile(r'\{\s*"')

Append = Callable[[Mapping[str, Any]], "Future[None]"]


class Backend(Protocol):
    """What answers requests: `bears.client.chat.Online` or `bears.client.batch.Batch`."""

    def answers(
        self, requests: Iterable[ChatRequest]
    ) -> AsyncIterator[tuple[ChatRequest, ChatAnswer | ClientError]]:
        """Answer each request once, in any order."""
        ...


@dataclass(frozen=True)
class Verdict:
    """What the gates say of an answer.

    Args:
        translation: the text, marks included; empty where there is none.
        refusals: why it cannot be stored at all.
        doubts: why it should be asked for again, but may be stored if nothing better comes.
    """

    translation: str
    refusals: list[str]
    doubts: list[str]


@dataclass(frozen=True)
class Talk:
    """How to ask and how to judge, kept apart from the order of asking.

    Args:
        ask: request and earlier reasons to what is sent.
        judge: request and answer to a verdict.
        tries: how often one text is asked for.
    """

    ask: Callable[[Request, list[str]], ChatRequest]
    judge: Callable[[Request, ChatAnswer], Verdict]
    tries: int


@dataclass
class Report:
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
    failed: dict[str, tuple[Request, list[str]]] = field(default_factory=dict)
    stopped: str = ""


class Known:
    """The published memory with the journal's translations beside it."""

    def __init__(self, memory: Memory, journal: Journal, translator: Translator) -> None:
        self._memory, self._translator = memory, translator
        rows = list(journal.rows())
        self._journalled = {
            row["key"]: Entry(row["key"], "", row["field"], row["text"], row["translation"])
            for row in rows
            if row.get("kind") == "translation"
        }
        self.reasons: dict[str, list[str]] = {
            row["key"]: row["reasons"] for row in rows if row.get("reasons") and "model" in row
        }
        """Why a model's last answer to a key was refused; that is told when it is asked again."""

    def lookup(self, request: Request) -> Entry | None:
        """The entry for a request, the published one first."""
        key = self._translator.key(request)
        return self._memory.get(key, request.record_id) or self._journalled.get(key)

    def add(self, entry: Entry) -> None:
        self._journalled[entry.key] = entry


async def fill(
    resolve: Callable[[Lookup], Resolution],
    known: Known,
    backend: Backend,
    talk: Talk,
    translator: Translator,
    append: Append,
    progress: Callable[[int, int], None],
) -> Report:
    """Ask ``backend`` for everything that is missing.

    Args:
        resolve: walks the benchmark with a lookup.
        known: what is there; grows.
        backend: answers requests.
        talk: how to ask and to judge.
        translator: whose keys the entries get.
        append: journals one row; its future resolves once the row is on disk.
        progress: told (requests finished, requests known of) after each answer.
    """
    report = Report()
    rounds = _Rounds(known, talk, translator, append, report)
    left = resolve(known.lookup)
    asking = rounds.asking(left.missing)
    while not report.stopped and (first := next(asking, None)) is not None:
        try:
            async for chat, answer in backend.answers(chain([first], asking)):
                report.answered += 1
                rounds.take(chat.key, answer)
                progress(report.answered, rounds.known_of)
        except RunStopped as stopped:
            report.stopped = str(stopped)
        finally:
            await rounds.on_disk()
        left = resolve(known.lookup)
        asking = rounds.asking(left.missing)
    report.missing = len({translator.key(each) for each in chain(left.missing, left.waiting)})
    return report


class _Rounds:
    """The state of a filling between its rounds."""

    def __init__(
        self, known: Known, talk: Talk, translator: Translator, append: Append, report: Report
    ) -> None:
        self._known, self._talk, self._translator = known, talk, translator
        self._append, self._report = append, report
        self._reasons = dict(known.reasons)
        self._tries: dict[str, int] = {}
        self._given_up: set[str] = set()
        self._best: dict[str, Verdict] = {}
        self._writing: list[Future[None]] = []
        self._asked: dict[str, Request] = {}
        self.known_of = 0
        """Requests of all rounds; those that turn out to be one were counted as several."""

    def asking(self, missing: Sequence[Request]) -> Iterator[ChatRequest]:
        """What to send for a new round: each key once, without what was given up.

        Nothing is keyed before it is taken, so the first requests need not wait for the last.
        """
        self._asked = {}
        self.known_of += len(missing)
        for request in missing:
            key = self._translator.key(request)
            if key in self._asked or key in self._given_up:
                self.known_of -= 1
            else:
                self._asked[key] = request
                yield self._talk.ask(request, self._reasons.get(key, []))

    def take(self, key: str, answer: ChatAnswer | ClientError) -> None:
        """Judge one answer and journal it."""
        request = self._asked[key]
        if isinstance(answer, ChatAnswer):
            self._judge(request, key, answer)
        elif isinstance(answer, BudgetExhausted):
            self._report.stopped = str(answer)
        else:
            verdict = Verdict("", [str(answer)], [])
            self._write("failure", request, key, verdict, None)
            self._give_up(request, key, verdict.refusals)

    def _judge(self, request: Request, key: str, answer: ChatAnswer) -> None:
        verdict = self._talk.judge(request, answer)
        self._tries[key] = self._tries.get(key, 0) + 1
        last = self._tries[key] >= self._talk.tries
        if not verdict.refusals and not verdict.doubts:
            self._store(request, key, verdict, answer)
            return
        self._reasons[key] = verdict.refusals + verdict.doubts
        best = self._best.get(key, verdict)
        if not verdict.refusals and len(verdict.doubts) <= len(best.doubts):
            self._best[key] = verdict
        kind = "failure" if last and key not in self._best else "refused"
        self._write(kind, request, key, verdict, answer)
        if last and key in self._best:
            self._store(request, key, self._best[key], None)
        elif last:
            self._give_up(request, key, self._reasons[key])

    def _give_up(self, request: Request, key: str, reasons: list[str]) -> None:
        self._given_up.add(key)
        self._report.failed[key] = (request, reasons)

    async def on_disk(self) -> None:
        """Wait until everything is journalled; raises what writing raised."""
        writing, self._writing = self._writing, []
        for future in writing:
            # Nearly all are done by now.
            if not future.done():
                await asyncio.wrap_future(future)
            future.result()

    def _store(
        self, request: Request, key: str, verdict: Verdict, answer: ChatAnswer | None
    ) -> None:
        self._write("translation", request, key, verdict, answer)
        self._known.add(Entry(key, "", request.field, request.text, verdict.translation))
        self._report.stored += 1

    def _write(
        self,
        kind: str,
        request: Request,
        key: str,
        verdict: Verdict,
        answer: ChatAnswer | None,
    ) -> None:
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


def reply_text(request: Request, answer: ChatAnswer) -> tuple[str, list[str]]:
    """The translation within an answer, and what forbids to take it from there."""
    if answer.refusal:
        return "", [f"the model refused: {answer.refusal:.80}"]
    if answer.finish_reason != "stop":
        return "", [f"the answer is not complete (finish reason {answer.finish_reason})"]
    text = answer.text.strip()
    if not text:
        return "", ["the answer is empty"]
    if request.field == "terms" or not ANSWERED.match(text) or ANSWERED.match(request.text):
        return text, []
    try:
        value = json.loads(text)["translation"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", ["the answer is not the JSON that was asked for"]
    if not isinstance(value, str) or not value.strip():
        return "", ["the answer's translation is empty or no text"]
    return value.strip(), []
