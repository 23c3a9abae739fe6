"""Asking a provider for embeddings: batches of texts, paced, retried, within a budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

import tenacity

from bears.client.budget import Budget
from bears.client.embedding_wire import Embedded, EmbeddingRequest, read_vectors
from bears.client.endpoint import Endpoint, find_access
from bears.client.errors import (
    BudgetExhausted,
    ClientError,
    RequestFailed,
    RequestRefused,
    RunStopped,
)
from bears.client.limits import Gate, Limits
from bears.client.models import Models
from bears.client.post import Lost, Post, make_client
from bears.client.run import GivenUp, Run
from bears.client.wire import read_problem

LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts."""

Answer = tuple[EmbeddingRequest, Embedded | ClientError]


class _Again(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, reason: str, after: float | None = None, limited: bool = False) -> None:
        super().__init__(reason)
        self.after, self.limited = after, limited


class Embeddings:
    """A model of embeddings behind an OpenAI-compatible address.

    Args:
        endpoint: where it is, and how hard it may be asked.
        models: what the models accept; one that ``refuses`` dimensions is not told them.
        limits: what is known of the provider's pace; it learns, and outlives this object.
        env_folder: the folder of ``.env``.

    Raises:
        ConfigurationError: there is no key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        limits: Limits,
        env_folder: Path | None = None,
    ) -> None:
        self._endpoint, self._limits = endpoint, limits
        self._access = find_access(endpoint, env_folder)
        self._told = "dimensions" not in endpoint.accepts(models).refuses

    async def answers(
        self, requests: Iterable[EmbeddingRequest], budget: Budget
    ) -> AsyncIterator[Answer]:
        """Yield each request with its vectors, or why it has none, as they come.

        At most ``concurrency`` are in flight. After BudgetExhausted or RunStopped no more are
        taken from ``requests``; what is in flight still comes.

        Args:
            budget: what may be spent; of one event loop.
        """
        run = Run(iter(()), asyncio.Queue())
        source, running = iter(requests), set[asyncio.Task[Answer]]()
        async with make_client(self._access, self._endpoint) as client:
            gate = Gate(self._limits)
            post = Post(client, gate, run, path="/embeddings")
            try:
                while True:
                    while len(running) < self._endpoint.concurrency and not run.over:
                        if (request := next(source, None)) is None:
                            break
                        running.add(asyncio.create_task(self._outcome(request, post, budget)))
                    if not running:
                        return
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in done:
                        yield task.result()
            finally:
                for task in running:
                    task.cancel()
                await asyncio.gather(*running, return_exceptions=True)

    async def _outcome(self, request: EmbeddingRequest, post: Post, budget: Budget) -> Answer:
        failures: list[_Again] = []

        async def once() -> Embedded:
            try:
                return await self._attempt(request, post, budget)
            except _Again as again:
                failures.append(again)
                raise

        async def pause(seconds: float) -> None:
            with post.run.waiting():
                await asyncio.sleep(seconds)

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(_Again),
            wait=self._pause,
            stop=lambda _: self._enough(failures),
            sleep=pause,
            reraise=True,
        )
        try:
            return request, await retrying(once)
        except _Again as again:
            told = f"no answer after {len(failures)} attempts, the last one: {again}"
            return request, RequestFailed(told)
        except GivenUp:
            return request, post.run.stopped or RequestFailed("not sent")
        except RunStopped as stopped:
            post.run.stop(stopped)
            return request, stopped
        except ClientError as error:
            post.run.over = post.run.over or isinstance(error, BudgetExhausted)
            return request, error

    def _enough(self, failures: list[_Again]) -> bool:
        attempts = self._endpoint.attempts
        counted = sum(not failure.limited for failure in failures)
        return counted >= attempts or len(failures) >= attempts * PATIENCE

    def _pause(self, state: tenacity.RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        assert isinstance(failure, _Again)
        if failure.limited:
            return 0.0  # The gate holds back everything for as long as it takes.
        first = self._endpoint.backoff_s
        wait = tenacity.wait_exponential_jitter(multiplier=first, max=LONGEST_WAIT, jitter=first)
        return max(failure.after or 0.0, wait(state))

    async def _attempt(self, request: EmbeddingRequest, post: Post, budget: Budget) -> Embedded:
        amount = await budget.reserve(request)
        try:
            answer = await self._ask(request, post)
        except Lost as lost:
            await budget.forfeit(amount)
            raise _Again(str(lost)) from None
        except asyncio.CancelledError:
            await budget.forfeit(amount)
            raise
        except BaseException:
            await budget.release(amount)
            raise
        await budget.settle(amount, answer.input_tokens, 0)
        given = answer.vectors.shape[1]
        if given != request.dimensions:
            raise RunStopped(
                f"{self._access.base_url} answers vectors of {given} dimensions for "
                f"{self._endpoint.model}, and {request.dimensions} are configured"
            )
        return answer

    async def _ask(self, request: EmbeddingRequest, post: Post) -> Embedded:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": request.texts}
        body["encoding_format"] = "base64"
        if self._told:
            body["dimensions"] = request.dimensions
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        reply = await post(content, request.expected_tokens())
        if reply.status == 200:
            try:
                return read_vectors(json.loads(reply.content), request)
            except ValueError as error:
                # The provider has done the work, so it may charge it.
                raise Lost(self._access.clean(f"the answer cannot be read: {error}")) from None
        problem = read_problem(reply.status, reply.content)
        told = f"{self._access.base_url} answers {self._access.clean(str(problem))}"
        if problem.passes:
            raise _Again(told, reply.after, limited=problem.status == 429)
        if problem.stops:
            raise RunStopped(f"{told}. Look at the key, the model's name and the account")
        raise RequestRefused(told)
