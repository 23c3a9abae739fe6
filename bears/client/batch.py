"""Asking a model through the provider's Batch API: half the price, within a day, restartable.

The state file is JSON Lines, one event a line, each on disk (fsync) before the next step:

``intent``   a batch will be made: its mark, and the keys of its requests in order
``created``  the provider has made it: its id
``closed``   all that it brought has been handed over

A process killed between making a batch and writing its id finds it again by its mark, which the
provider keeps in the batch's metadata.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import openai
import tenacity
from openai.types import Batch as ProviderBatch

from bears.client.budget import Budget
from bears.client.chat import Outcome
from bears.client.endpoint import Access, Endpoint, find_access
from bears.client.errors import RequestFailed, RequestRefused, RunStopped
from bears.client.limits import Clock
from bears.client.models import Models, Price
from bears.client.transport import LeanClient
from bears.client.wire import ChatRequest, Problem, read_answer, read_problem, to_body, to_problem
from bears.errors import ConfigurationError
from bears.formats.records import to_line

T = TypeVar("T")

MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
ENDED = ("completed", "failed", "expired", "cancelled")
MARK = "bears_mark"
TRANSFER_S = 1800.0


@dataclass(slots=True)
class Pending:
    """A batch at the provider.

    Args:
        mark: our name for it.
        keys: of its requests; the place is the ``custom_id``.
        id: the provider's name; empty until it is known.
    """

    mark: str
    keys: tuple[str, ...]
    id: str = ""


class State:
    """The state file: which batches are at the provider."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pending(self) -> list[Pending]:
        """The batches that are not closed.

        Raises:
            ConfigurationError: a line other than a torn last one cannot be read.
        """
        found: dict[str, Pending] = {}
        for event in self._events():
            mark = event["mark"]
            if event["event"] == "intent":
                found[mark] = Pending(mark, tuple(event["keys"]))
            elif event["event"] == "created":
                found[mark].id = event["id"]
            else:
                found.pop(mark, None)
        return list(found.values())

    def write(self, event: str, mark: str, **more: Any) -> None:
        """Append an event; it is on disk when this returns."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._drop_torn_end()
        with self._path.open("ab") as stream:
            stream.write(to_line({"event": event, "mark": mark, **more}).encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())

    def _events(self) -> Iterator[dict[str, Any]]:
        content = self._path.read_bytes() if self._path.exists() else b""
        # What follows the last line feed was being written when the process died.
        for number, line in enumerate(content.split(b"\n")[:-1], start=1):
            try:
                event = json.loads(line)
                yield {"mark": event["mark"], "event": event["event"], **event}
            except (ValueError, KeyError, TypeError):
                raise ConfigurationError(
                    f"{self._path}, line {number} is damaged; batches may be at the provider: "
                    "look at its page, then move the file away"
                ) from None

    def _drop_torn_end(self) -> None:
        content = self._path.read_bytes() if self._path.exists() else b""
        if content and not content.endswith(b"\n"):
            with self._path.open("r+b") as stream:
                stream.truncate(content.rfind(b"\n") + 1)


class Batch:
    """A model that answers within a day.

    Args:
        endpoint: where it is; ``attempts`` bounds how often a request is submitted.
        models: what the models accept and cost.
        state: the state file; one for each provider and account.
        budget: what may be spent, at the price of batches; None: no cap.
        env_folder: the folder of ``.env``.
        clock: the time, for tests.
        poll_s: the first wait between two looks at a batch; it grows to ``longest_poll_s``.
        most_requests, most_bytes: the provider's limits of one file.

    Raises:
        ConfigurationError: there is no key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        state: Path,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        clock: Clock | None = None,
        poll_s: float = 10.0,
        longest_poll_s: float = 300.0,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget(None, Price(0, 0))
        self._model = endpoint.accepts(models)
        self._access = find_access(endpoint, env_folder)
        self._state = State(state)
        self._clock = clock or Clock()
        self._polls = (poll_s, longest_poll_s)
        self._most = (most_requests, most_bytes)

    async def answers(
        self, requests: Iterable[ChatRequest]
    ) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield each request with its answer, or why it has none, batch by batch.

        Requests that are in a batch already (of a run that was killed) are not submitted again.
        All of ``requests`` is taken at once; what does not fit the budget yields BudgetExhausted.

        Raises:
            RunStopped: the provider takes no batches from us.
        """
        asked = {request.key: request for request in requests}
        rounds = dict.fromkeys(asked, 0)
        held: dict[str, float] = {}
        async with _client(self._access, self.endpoint) as client:
            provider = _Provider(client, self._access, self.endpoint, self._clock)
            pending = await self._found(provider)
            waiting = {key for batch in pending for key in batch.keys} & asked.keys()
            for key in waiting:
                held[key] = self.budget.bound(asked[key])
                self.budget.hold(held[key])
            fresh = [request for key, request in asked.items() if key not in waiting]
            while pending or fresh:
                fitting, unfit = self._fitting(fresh, held)
                pending += [await self._submit(provider, part) for part in self._parts(fitting)]
                for request in fitting:
                    rounds[request.key] += 1
                if not pending:
                    for request in unfit:
                        yield request, self.budget.exhausted(self.budget.bound(request))
                    return
                ended = await self._next_ended(provider, pending)
                results = await self._results(provider, ended, asked)
                again = []
                for key in dict.fromkeys(ended[0].keys):
                    if key not in asked or key not in held:
                        continue
                    outcome = results.get(key)
                    await self._settle(held.pop(key), outcome)
                    if isinstance(outcome, _Missing) and rounds[key] < self.endpoint.attempts:
                        again.append(asked[key])
                    else:
                        yield asked[key], _final(outcome)
                self._state.write("closed", ended[0].mark)
                pending.remove(ended[0])
                fresh = again + unfit

    def _fitting(
        self, requests: list[ChatRequest], held: dict[str, float]
    ) -> tuple[list[ChatRequest], list[ChatRequest]]:
        """Those that the budget has room for, now reserved, and the others."""
        fitting, unfit = [], []
        for request in requests:
            amount = self.budget.bound(request)
            if self.budget.fits(amount):
                self.budget.hold(amount)
                held[request.key] = amount
                fitting.append(request)
            else:
                unfit.append(request)
        return fitting, unfit

    def _parts(self, requests: list[ChatRequest]) -> Iterator[list[tuple[str, bytes]]]:
        """Files of at most so many requests and bytes: (key, line) of each."""
        part: list[tuple[str, bytes]] = []
        size = 0
        for request in requests:
            line = self._line(len(part), request)
            if part and (len(part) >= self._most[0] or size + len(line) > self._most[1]):
                yield part
                part, size, line = [], 0, self._line(0, request)
            part.append((request.key, line))
            size += len(line)
        if part:
            yield part

    def _line(self, place: int, request: ChatRequest) -> bytes:
        body = to_body(request, self.endpoint.model, self._model, self._model.structured)
        row = {"custom_id": str(place), "method": "POST", "url": "/v1/chat/completions"}
        return to_line({**row, "body": body}).encode("utf-8")

    async def _submit(self, provider: _Provider, part: list[tuple[str, bytes]]) -> Pending:
        batch = Pending(uuid.uuid4().hex, tuple(key for key, _ in part))
        file = await provider.upload(b"".join(line for _, line in part))
        self._state.write("intent", batch.mark, keys=batch.keys)
        batch.id = await provider.create(file, batch.mark)
        self._state.write("created", batch.mark, id=batch.id)
        return batch

    async def _found(self, provider: _Provider) -> list[Pending]:
        """The batches of earlier runs; those that never reached the provider are dropped."""
        pending = self._state.pending()
        for batch in [batch for batch in pending if not batch.id]:
            batch.id = await provider.find(batch.mark)
            if batch.id:
                self._state.write("created", batch.mark, id=batch.id)
            else:
                self._state.write("closed", batch.mark)
        return [batch for batch in pending if batch.id]

    async def _next_ended(
        self, provider: _Provider, pending: list[Pending]
    ) -> tuple[Pending, ProviderBatch | None]:
        """Look at the batches, less and less often, until one has ended."""
        pause, longest = self._polls
        while True:
            for batch in pending:
                seen = await provider.retrieve(batch.id)
                if seen is None or seen.status in ENDED:
                    return batch, seen
            await self._clock.sleep(pause)
            pause = min(longest, pause * 1.5)

    async def _results(
        self,
        provider: _Provider,
        ended: tuple[Pending, ProviderBatch | None],
        asked: Mapping[str, ChatRequest],
    ) -> dict[str, Outcome | _Missing]:
        batch, seen = ended
        if seen is None:
            return dict.fromkeys(batch.keys, _Missing("the provider no longer knows the batch"))
        reason = _Missing(self._access.clean(f"the batch {seen.status}{_told(seen)}"))
        results: dict[str, Outcome | _Missing] = dict.fromkeys(batch.keys, reason)
        for file in (seen.error_file_id, seen.output_file_id):
            if not file:
                continue
            for line in (await provider.download(file)).split(b"\n"):
                if line.strip():
                    self._read(line, batch, asked, results)
        return results

    def _read(
        self,
        line: bytes,
        batch: Pending,
        asked: Mapping[str, ChatRequest],
        results: dict[str, Outcome | _Missing],
    ) -> None:
        """Read one line of an output or error file; one that cannot be read counts as missing."""
        try:
            row = json.loads(line)
            key = batch.keys[int(row["custom_id"])]
            request = asked.get(key)
            if request is not None:
                results[key] = self._outcome(row, request)
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return

    def _outcome(self, row: Mapping[str, Any], request: ChatRequest) -> Outcome | _Missing:
        response = row.get("response")
        if not response:
            return _Missing(self._access.clean(str(to_problem(0, row.get("error") or {}))))
        status = int(response["status_code"])
        if status == 200:
            return read_answer(response["body"], request)
        problem = to_problem(status, response["body"])
        told = self._access.clean(str(problem))
        return _Missing(told) if problem.passes else RequestRefused(told)

    async def _settle(self, amount: float, outcome: Outcome | _Missing | None) -> None:
        if isinstance(outcome, Exception | _Missing) or outcome is None:
            await self.budget.release(amount)
        else:
            await self.budget.settle(amount, outcome.input_tokens, outcome.output_tokens)


@dataclass(frozen=True, slots=True)
class _Missing:
    """A request that a batch did not answer, though another may."""

    reason: str


def _final(outcome: Outcome | _Missing | None) -> Outcome:
    if outcome is None or isinstance(outcome, _Missing):
        reason = outcome.reason if outcome else "no line in the batch's files"
        return RequestFailed(f"not answered in any batch: {reason}")
    return outcome


def _told(seen: ProviderBatch) -> str:
    errors = (seen.errors.data or []) if seen.errors else []
    return "".join(f"; {error.code}: {error.message}" for error in errors[:3])


@dataclass(frozen=True, slots=True)
class _Provider:
    """The calls of the Batch API, each tried again where that can help."""

    client: openai.AsyncOpenAI
    access: Access
    endpoint: Endpoint
    clock: Clock

    async def upload(self, content: bytes) -> str:
        """Upload a file of requests and return its id."""
        file = ("requests.jsonl", content, "application/jsonl")
        made = await self._call(lambda: self.client.files.create(file=file, purpose="batch"))
        return made.id

    async def create(self, file: str, mark: str) -> str:
        """Make a batch, unless an attempt whose answer was lost has made it."""
        attempts = 0

        async def make() -> str:
            nonlocal attempts
            attempts += 1
            if attempts > 1 and (found := await self._find(mark)):
                return found
            batch = await self.client.batches.create(
                input_file_id=file,
                endpoint="/v1/chat/completions",
                completion_window="24h",
                metadata={MARK: mark},
            )
            return batch.id

        return await self._call(make)

    async def find(self, mark: str) -> str:
        """The id of the batch with our ``mark``; empty if there is none."""
        return await self._call(lambda: self._find(mark))

    async def _find(self, mark: str) -> str:
        async for batch in self.client.batches.list(limit=100):
            if (batch.metadata or {}).get(MARK) == mark:
                return batch.id
        return ""

    async def retrieve(self, name: str) -> ProviderBatch | None:
        """Look at a batch; None if the provider does not know it any more."""
        try:
            return await self._call(lambda: self.client.batches.retrieve(name), known=False)
        except openai.NotFoundError:
            return None

    async def download(self, file: str) -> bytes:
        """The content of an output or error file."""
        return (await self._call(lambda: self.client.files.content(file))).content

    async def _call(self, call: Callable[[], Awaitable[T]], known: bool = True) -> T:
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_passes),
            wait=tenacity.wait_exponential_jitter(
                multiplier=self.endpoint.backoff_s, max=60, jitter=self.endpoint.backoff_s
            ),
            stop=tenacity.stop_after_attempt(self.endpoint.attempts),
            sleep=self.clock.sleep,
            reraise=True,
        )

        async def once() -> T:
            return await call()

        try:
            return await retrying(once)
        except openai.APIStatusError as error:
            if not known and error.status_code == 404:
                raise
            told = str(_problem(error))
        except openai.APIConnectionError as error:
            told = f"{type(error).__name__} ({error.__cause__})"
        raise RunStopped(self.access.clean(f"{self.access.base_url} takes no batches: {told}"))


def _problem(error: openai.APIStatusError) -> Problem:
    return read_problem(error.status_code, error.response.content)


def _passes(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return _problem(error).passes
    return isinstance(error, openai.APIConnectionError)


def _client(access: Access, endpoint: Endpoint) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        max_retries=0,
        http_client=LeanClient(8, max(TRANSFER_S, endpoint.timeout_s)),
    )
