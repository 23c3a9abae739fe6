"""Asking a model online: many requests at once, paced, retried, within a budget."""

from __future__ import annotations

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bears.client.budget import Budget
from bears.client.endpoint import Endpoint, find_access
from bears.client.errors import BudgetExhausted, ClientError, RunStopped
from bears.client.limits import Clock, Gate, Limits
from bears.client.models import Models, Price
from bears.client.post import Lost, Post, make_client
from bears.client.retry import Retries, error_of, paid
from bears.client.run import GivenUp, Outcome, Run
from bears.client.wire import ChatAnswer, ChatRequest, read_answer, read_problem, to_body


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
        self._retries = Retries(endpoint, self._clock)
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
            RunStopped: key, model, address or quota are wrong. What is in flight is waited for
                and yielded first; what waits for its turn or its next attempt is not sent.
        """
        run = Run(iter(requests), asyncio.Queue(self.endpoint.concurrency))
        async with make_client(self._access, self.endpoint) as client:
            post = Post(client, Gate(self.limits, self._clock), run)
            with _quiet_collector():
                workers = [
                    asyncio.create_task(self._work(run, post))
                    for _ in range(self.endpoint.concurrency)
                ]
                try:
                    async for outcome in run.finished(len(workers)):
                        yield outcome
                    await asyncio.gather(*workers)
                finally:
                    await _cancel(workers)
        if run.stopped is not None:
            raise run.stopped

    async def _work(self, run: Run, post: Post) -> None:
        """Answer one request after the other until there are none."""
        try:
            await run.turns.take()
            while not run.over and (request := next(run.source, None)) is not None:
                outcome = await self._outcome(request, run, post)
                if isinstance(outcome, RunStopped):
                    run.stop(outcome)
                else:
                    run.over = run.over or isinstance(outcome, BudgetExhausted)
                    await run.done.put((request, outcome))
        except GivenUp:
            pass
        except Exception:
            run.over = True
            await run.done.put(None)
            raise
        await run.done.put(None)

    async def _outcome(self, request: ChatRequest, run: Run, post: Post) -> Outcome:
        async def once() -> ChatAnswer:
            return await paid(self.budget, request, lambda: self._ask(request, post))

        try:
            return await self._retries(run, once)
        except ClientError as error:
            return error

    async def _ask(self, request: ChatRequest, post: Post) -> ChatAnswer:
        try:
            return await self._once(request, post)
        except _Plainly:
            # One level down for the rest of the run; the level below `none` does not exist.
            self._structured = "none"
            return await self._once(request, post)

    async def _once(self, request: ChatRequest, post: Post) -> ChatAnswer:
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
        raise error_of(problem, reply.after, self._access, self.endpoint)

    def _read(self, content: bytes, request: ChatRequest) -> ChatAnswer:
        try:
            return read_answer(json.loads(content), request)
        except ValueError as error:
            # The provider has done the work, so it may charge it.
            raise Lost(self._access.clean(f"the answer cannot be read: {error}")) from None


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


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
