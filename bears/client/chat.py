"""Asking a model online: many requests at once, paced, retried, within a budget."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import openai
import tenacity

from bears.client.budget import Budget
from bears.client.endpoint import Access, Endpoint, find_access
from bears.client.errors import (
    BudgetExhausted,
    ClientError,
    RequestFailed,
    RequestRefused,
    RunStopped,
)
from bears.client.limits import Clock, Gate, Limits, retry_after
from bears.client.models import Models, Price
from bears.client.transport import LeanClient
from bears.client.wire import (
    ChatAnswer,
    ChatRequest,
    Problem,
    read_answer,
    read_problem,
    to_body,
)

Outcome = ChatAnswer | ClientError
LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts."""


class _Again(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, reason: str, after: float | None = None, limited: bool = False) -> None:
        super().__init__(reason)
        self.after, self.limited = after, limited


class _Plainly(Exception):
    """The server does not take the schema: ask again without."""


class Online:
    """A model that answers while one waits.

    Args:
        endpoint: where it is, and how hard it may be asked.
        models: what the models accept and cost.
        budget: what may be spent; None: no cap, and no price is needed.
        env_folder: the folder of ``.env``.
        clock: the time, for tests.

    Raises:
        ConfigurationError: there is no key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget(None, Price(0, 0))
        self.limits = Limits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        self._clock = clock or Clock()
        self._access = find_access(endpoint, env_folder)
        self._model = endpoint.accepts(models)
        self._structured = self._model.structured

    async def answers(
        self, requests: Iterable[ChatRequest]
    ) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield each request with its answer, or why it has none, as they come.

        A request is taken from ``requests`` when a place is free, and at most ``concurrency`` are
        in flight. Once the budget is used up no more are taken: the rest of ``requests`` stays
        unasked.

        Raises:
            RunStopped: key, model, address or quota are wrong. What was in flight is waited for
                and yielded first.
        """
        run = _Run(iter(requests), asyncio.Queue(self.endpoint.concurrency))
        async with _client(self._access, self.endpoint) as client:
            post = _Post(client, Gate(self.limits, self._clock))
            with _quiet_collector():
                workers = [
                    asyncio.create_task(self._work(run, post))
                    for _ in range(self.endpoint.concurrency)
                ]
                try:
                    async for outcome in _finished(run, len(workers)):
                        yield outcome
                    await asyncio.gather(*workers)
                finally:
                    await _cancel(workers)
        if run.stopped is not None:
            raise run.stopped

    async def _work(self, run: _Run, post: _Post) -> None:
        """Answer one request after the other until there are none."""
        try:
            while not run.over and (request := next(run.source, None)) is not None:
                outcome = await self._outcome(request, run, post)
                run.over = run.over or isinstance(outcome, BudgetExhausted | RunStopped)
                if isinstance(outcome, RunStopped):
                    run.stopped = run.stopped or outcome
                else:
                    await run.done.put((request, outcome))
        except Exception:
            run.over = True
            await run.done.put(None)
            raise
        await run.done.put(None)

    async def _outcome(self, request: ChatRequest, run: _Run, post: _Post) -> Outcome:
        failures: list[_Again] = []
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_Again),
            wait=self._pause,
            stop=lambda _: run.stopped is not None or self._enough(failures),
            sleep=self._clock.sleep,
            reraise=True,
        )
        try:
            async for attempt in retrying:
                with attempt:
                    try:
                        return await self._attempt(request, post)
                    except _Again as again:
                        failures.append(again)
                        raise
        except _Again as again:
            reason = str(again)
        except ClientError as error:
            return error
        return RequestFailed(f"no answer after {len(failures)} attempts, the last one: {reason}")

    def _enough(self, failures: list[_Again]) -> bool:
        counted = sum(not failure.limited for failure in failures)
        return counted >= self.endpoint.attempts or len(failures) >= (
            self.endpoint.attempts * PATIENCE
        )

    def _pause(self, state: tenacity.RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        if isinstance(failure, _Again) and failure.limited:
            return 0.0  # The gate holds back everything for as long as it takes.
        jittered = tenacity.wait_exponential_jitter(
            multiplier=self.endpoint.backoff_s, max=LONGEST_WAIT, jitter=self.endpoint.backoff_s
        )(state)
        after = failure.after if isinstance(failure, _Again) else None
        return max(after or 0.0, jittered)

    async def _attempt(self, request: ChatRequest, post: _Post) -> ChatAnswer:
        amount = await self.budget.reserve(request)
        try:
            answer = await self._ask(request, post)
        except (_Lost, asyncio.CancelledError) as lost:
            await self.budget.forfeit(amount)
            if isinstance(lost, _Lost):
                raise _Again(str(lost)) from None
            raise
        except BaseException:
            await self.budget.release(amount)
            raise
        await self.budget.settle(amount, answer.input_tokens, answer.output_tokens)
        return answer

    async def _ask(self, request: ChatRequest, post: _Post) -> ChatAnswer:
        try:
            return await self._once(request, post)
        except _Plainly:
            # One level down for the rest of the run; the level below `none` does not exist.
            self._structured = "none"
            return await self._once(request, post)

    async def _once(self, request: ChatRequest, post: _Post) -> ChatAnswer:
        structured = self._structured
        body = to_body(request, self.endpoint.model, self._model, structured)
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        tokens = request.expected_tokens()
        reply = await post(content, tokens)
        if reply.status == 200:
            return self._read(reply.content, request)
        problem = read_problem(reply.status, reply.content)
        if request.schema is not None and structured != "none" and problem.about_schema:
            raise _Plainly
        raise self._error(problem, reply.after)

    def _read(self, content: bytes, request: ChatRequest) -> ChatAnswer:
        try:
            return read_answer(json.loads(content), request)
        except ValueError as error:
            # The provider has done the work, so it may charge it.
            raise _Lost(self._access.clean(f"the answer cannot be read: {error}")) from None

    def _error(self, problem: Problem, after: float | None) -> Exception:
        told = self._access.clean(str(problem))
        if problem.passes:
            return _Again(told, after, limited=problem.status == 429)
        if problem.stops:
            return RunStopped(f"{self._access.base_url} answers {told}. {_remedy(problem)}")
        return RequestRefused(f"{self._access.base_url} answers {told}")


@dataclass(slots=True)
class _Run:
    """What the workers of one call of `Online.answers` share."""

    source: Iterator[ChatRequest]
    done: asyncio.Queue[tuple[ChatRequest, Outcome] | None]
    over: bool = False
    stopped: RunStopped | None = None


class _Lost(Exception):
    """The request may have been answered, but the answer did not arrive whole."""


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    content: bytes
    after: float | None


@dataclass(slots=True)
class _Post:
    """One request through the gate and the openai client."""

    client: openai.AsyncOpenAI
    gate: Gate
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})

    async def __call__(self, content: bytes, tokens: int) -> _Reply:
        sent_at = await self.gate.enter(tokens)
        limits, now = self.gate.limits, self.gate.clock.now
        try:
            response = await self._send(content)
        finally:
            limits.ended(tokens)
        limits.learn(now(), response.headers)
        after = None
        if response.status_code == 429:
            after = retry_after(response.headers)
            limits.refused(sent_at, now(), tokens, after)
        elif response.status_code == 200:
            limits.accepted()
        else:
            after = retry_after(response.headers)
        return _Reply(response.status_code, response.content, after)

    async def _send(self, content: bytes) -> httpx2.Response:
        # `chat.completions.create` checks and rebuilds what we have built, and makes a pydantic
        # object of the answer: 0.7 ms of CPU more for each request than this.
        try:
            return await self.client.post(
                "/chat/completions",
                cast_to=httpx2.Response,
                content=content,
                options={"headers": self.headers},
            )
        except openai.APIStatusError as error:
            return error.response
        except openai.APITimeoutError:
            reason = "no answer in time"
        except openai.APIConnectionError as error:
            reason = f"the connection was lost ({error.__cause__})"
        raise _Lost(reason)


@contextmanager
def _quiet_collector() -> Iterator[None]:
    """Keep the garbage collector away from what was there before the run.

    Its full rounds walk over every module: 0.1 s each, in which 30 requests could have gone out.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _client(access: Access, endpoint: Endpoint) -> openai.AsyncOpenAI:
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        max_retries=0,
        http_client=LeanClient(endpoint.concurrency, endpoint.timeout_s),
    )


async def _finished(run: _Run, workers: int) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
    while workers:
        outcome = await run.done.get()
        if outcome is None:
            workers -= 1
        else:
            yield outcome


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _remedy(problem: Problem) -> str:
    if problem.status in (401, 403):
        return "Look at the key, and at what it may use"
    if problem.status == 404:
        return "Look at translator.model and translator.base_url"
    return "The account has no credit left"
