"""Ask a model through the provider's Batch API: half the price, within a day, restartable.

A process that is killed between creating a batch and writing its id finds the batch again by its
mark, which the provider keeps in the batch's metadata.
"""

import asyncio
import uuid
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import openai
from openai.types import Batch as ProviderBatch

from bears.config import parse
from bears.errors import BearsError, ConfigurationError, FormatError
from bears.files.intake.json_text import json_value
from bears.files.records import read_lines, to_line, write_lines
from bears.llm.budget import Budget
from bears.llm.client import Online, forget, make_client
from bears.llm.endpoint import Access, Endpoint
from bears.llm.faults import (
    RequestFailed,
    RequestRefused,
    RunStopped,
    read_problem,
    to_problem,
)
from bears.llm.models import Model, Models
from bears.llm.pool import Streak
from bears.llm.wire import ChatAnswer, ChatRequest, Outcome
from bears.types import Closed


@dataclass(slots=True)
class Pending(Closed):
    """A batch at the provider.

    Args:
        mark: our name for it.
        keys: of its requests; the position is the ``custom_id``.
        id: the provider's name; empty until it is known.
    """

    mark: str
    keys: tuple[str, ...]
    id: str = ""


def read_pending(path: Path) -> list[Pending]:
    """Read the batches of a state file; an absent file has none.

    Raises:
        ConfigurationError: a line cannot be read.
    """
    if not path.exists():
        return []
    try:
        return [parse(Pending, row, f"line {number}") for number, row in read_lines(path)]
    except BearsError as error:
        raise ConfigurationError(
            f"{path} is damaged ({error}); there may be batches at the provider: "
            "look at its page, then move the file away"
        ) from None


def write_pending(path: Path, pending: Iterable[Pending]) -> None:
    """Replace a state file; it is on disk when this returns."""
    write_lines(path, map(asdict, pending))


MARK = "bears_mark"
TRANSFER_S = 1800.0
"""How long one part of a batch file may take to transfer."""


async def find(client: openai.AsyncOpenAI, mark: str) -> str:
    """Return the id of the batch with our ``mark``; empty if no batch has it."""
    async for batch in client.batches.list(limit=100):
        if (batch.metadata or {}).get(MARK) == mark:
            return batch.id
    return ""


@asynccontextmanager
async def batch_client(access: Access, endpoint: Endpoint) -> AsyncIterator[openai.AsyncOpenAI]:
    """Open the client; an error of its calls stops the run.

    Raises:
        RunStopped: the provider accepts no batches from us.
    """
    try:
        async with make_client(access, endpoint, TRANSFER_S, endpoint.attempts - 1) as client:
            yield client
        return
    except openai.APIStatusError as error:
        problem = str(read_problem(error.status_code, error.response.content))
    except openai.APIConnectionError as error:
        problem = f"{type(error).__name__} ({error.__cause__})"
    raise RunStopped(access.clean(f"{access.base_url} takes no batches: {problem}")) from None


BatchPart = list[tuple[str, bytes]]
"""The lines of one file, each with the key of its request."""


def parts(
    requests: Iterable[ChatRequest], name: str, model: Model, most_requests: int, most_bytes: int
) -> Iterator[BatchPart]:
    """Yield files that ask the model ``name``, within the limits of requests and bytes."""
    part: BatchPart = []
    size = 0
    for request in requests:
        line = _line(len(part), request, name, model)
        if part and (len(part) >= most_requests or size + len(line) > most_bytes):
            yield part
            part, size, line = [], 0, _line(0, request, name, model)
        part.append((request.key, line))
        size += len(line)
    if part:
        yield part


def _line(place: int, request: ChatRequest, name: str, model: Model) -> bytes:
    body = request.body(name, model)
    row = {"custom_id": str(place), "method": "POST", "url": "/v1/chat/completions"}
    return to_line({**row, "body": body}).encode("utf-8")


def outcomes(
    content: bytes, keys: Sequence[str], asked: Mapping[str, ChatRequest], access: Access
) -> Iterator[tuple[str, Outcome]]:
    """Yield the key and outcome of each line of an output or error file.

    RequestFailed means that another batch may answer the request.

    Args:
        content: of the file; a line that cannot be read is skipped.
        keys: of the batch's requests, in order.
        asked: the requests to return, by key; other lines are skipped.
        access: messages must not show its API key.
    """
    for line in content.split(b"\n"):
        try:
            row = json_value(line, "", halves=True)
            key = keys[int(row["custom_id"])]
            if key in asked:
                yield key, _outcome(row, asked[key], access)
        except (FormatError, ArithmeticError, ValueError, LookupError, TypeError, AttributeError):
            continue


def not_answered(reason: str) -> RequestFailed:
    """Return the outcome of a request that a batch did not answer, though another one may."""
    return RequestFailed(f"not answered in any batch: {reason}")


def _outcome(row: Mapping[str, Any], asked: ChatRequest, access: Access) -> Outcome:
    response = row.get("response")
    if not response:
        return not_answered(access.clean(str(to_problem(0, row.get("error") or {}))))
    status = int(response["status_code"])
    if status == 200:
        return asked.read(response["body"])
    problem = to_problem(status, response["body"])
    message = access.clean(str(problem))
    return not_answered(message) if problem.passes else RequestRefused(message)


MOST_REQUESTS = 50_000
MOST_BYTES = 200_000_000
LONGEST_POLL_S = 300.0
ENDED = ("completed", "failed", "expired", "cancelled")


class BatchApi(Online):
    """A model that answers within a day.

    Args:
        endpoint: its address; ``attempts`` limits how often a request is submitted.
        models: what the models accept and cost.
        state: the state file; one for each provider and account.
        budget: what may be spent, at the price of batches; None: no limit.
        env_folder: the folder of ``.env``.
        poll_s: the first wait between two looks at a batch; it grows to `LONGEST_POLL_S`.
        most_requests, most_bytes: the provider's limits for one file.

    Raises:
        ConfigurationError: there is no API key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        state: Path,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        poll_s: float = 10.0,
        most_requests: int = MOST_REQUESTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        super().__init__(endpoint, models, budget, env_folder)
        self._state, self._poll_s = state, poll_s
        self._most = (most_requests, most_bytes)
        self._others = list[Pending]()

    async def answers(
        self,
        requests: Iterable[ChatRequest],
        keep: Callable[[ChatRequest, ChatAnswer], Awaitable[None]] = forget,
    ) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield each request with its answer, or why it has none, batch by batch.

        Requests that are already in a batch of an earlier run are not submitted again. Batches
        without any of ``requests`` are left alone. All of ``requests`` is taken at once; what does
        not fit the budget yields BudgetExhausted.

        Raises:
            RunStopped: the provider accepts no batches from us.
        """
        asked = {request.key: request for request in requests}
        rounds, held = Counter[str](), dict[str, float]()
        async with batch_client(self.access, self.endpoint) as client:
            pending = await self._resumed(client, asked)
            for key in {key for batch in pending for key in batch.keys} & asked.keys():
                self._hold(asked[key], held, at_any_cost=True)
            fresh = [request for key, request in asked.items() if key not in held]
            while pending or fresh:
                fitting = [each for each in fresh if self._hold(each, held, at_any_cost=False)]
                unfit = [each for each in fresh if each.key not in held]
                rounds.update(request.key for request in fitting)
                for part in parts(fitting, self.endpoint.model, self.model, *self._most):
                    await self._submit(client, part, pending)
                if not pending:
                    for request in unfit:
                        yield request, self.budget.exhausted(self.budget.bound(request))
                    return
                batch, seen = await self._next_ended(client, pending)
                results = await self._results(client, batch, seen, asked)
                again, streak = list[ChatRequest](), Streak[ChatRequest, ChatAnswer]()
                ours = [key for key in batch.keys if key in held]
                for key in ours:
                    outcome = results[key]
                    await self._settle(held.pop(key), outcome)
                    if isinstance(outcome, RequestFailed) and rounds[key] < self.endpoint.attempts:
                        again.append(asked[key])
                        continue
                    if isinstance(outcome, ChatAnswer):
                        # The batch is removed from the state only after its last answer is kept.
                        await keep(asked[key], outcome)
                    for pair in streak.add(asked[key], outcome):
                        yield pair
                failed, stop = streak.ended()
                for pair in failed:
                    yield pair
                pending.remove(batch)
                self._write(pending)
                if stop and len(failed) == len(ours):
                    raise stop
                fresh = again + unfit

    def _hold(self, request: ChatRequest, held: dict[str, float], at_any_cost: bool) -> bool:
        """Reserve what a request may cost, if it fits or is already submitted."""
        amount = self.budget.bound(request)
        if at_any_cost or self.budget.fits(amount):
            self.budget.hold(amount)
            held[request.key] = amount
        return request.key in held

    async def _submit(
        self, client: openai.AsyncOpenAI, part: BatchPart, pending: list[Pending]
    ) -> None:
        content = b"".join(line for _, line in part)
        named = ("requests.jsonl", content, "application/jsonl")
        file = await client.files.create(file=named, purpose="batch")
        batch = Pending(uuid.uuid4().hex, tuple(key for key, _ in part))
        pending.append(batch)
        self._write(pending)
        # Without retries: an attempt whose answer was lost may have created the batch, and the next
        # run finds it by its mark.
        made = await client.with_options(max_retries=0).batches.create(
            input_file_id=file.id,
            endpoint="/v1/chat/completions",
            completion_window="24h",
            metadata={MARK: batch.mark},
        )
        batch.id = made.id
        self._write(pending)

    async def _resumed(
        self, client: openai.AsyncOpenAI, asked: Mapping[str, ChatRequest]
    ) -> list[Pending]:
        """Return our batches of earlier runs; drop those that never reached the provider."""
        pending = read_pending(self._state)
        ours = [batch for batch in pending if asked.keys() & batch.keys]
        self._others = [batch for batch in pending if batch not in ours]
        for batch in ours:
            batch.id = batch.id or await find(client, batch.mark)
        submitted = [batch for batch in ours if batch.id]
        self._write(submitted)
        return submitted

    def _write(self, pending: list[Pending]) -> None:
        write_pending(self._state, [*self._others, *pending])

    async def _next_ended(
        self, client: openai.AsyncOpenAI, pending: list[Pending]
    ) -> tuple[Pending, ProviderBatch | None]:
        """Check the batches, less and less often, until one has ended or is unknown (None)."""
        pause = self._poll_s
        while True:
            for batch in pending:
                try:
                    seen = await client.batches.retrieve(batch.id)
                except openai.NotFoundError:
                    return batch, None
                if seen.status in ENDED:
                    return batch, seen
            await asyncio.sleep(pause)
            pause = min(LONGEST_POLL_S, pause * 1.5)

    async def _results(
        self,
        client: openai.AsyncOpenAI,
        batch: Pending,
        seen: ProviderBatch | None,
        asked: Mapping[str, ChatRequest],
    ) -> dict[str, Outcome]:
        if seen is None:
            return dict.fromkeys(batch.keys, not_answered("the provider lost the batch"))
        errors = (seen.errors.data or []) if seen.errors else []
        details = "".join(f"; {error.code}: {error.message}" for error in errors[:3])
        reason = self.access.clean(f"the batch {seen.status}{details}")
        results: dict[str, Outcome] = dict.fromkeys(batch.keys, not_answered(reason))
        for file in filter(None, (seen.error_file_id, seen.output_file_id)):
            content = await client.files.content(file)
            results.update(outcomes(content.content, batch.keys, asked, self.access))
        return results

    async def _settle(self, amount: float, outcome: Outcome) -> None:
        if isinstance(outcome, Exception):
            await self.budget.release(amount)
        else:
            await self.budget.settle(amount, outcome.input_tokens, outcome.output_tokens)
