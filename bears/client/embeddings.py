"""Asking a provider for embeddings: batches of texts, paced, retried, within a budget."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from bears.client.budget import Budget
from bears.client.embedding_wire import Embedded, EmbeddingRequest, read_vectors
from bears.client.endpoint import Endpoint, find_access
from bears.client.errors import BudgetExhausted, ClientError, RequestFailed, RunStopped
from bears.client.limits import Gate, Limits
from bears.client.models import Models
from bears.client.post import Lost, Post, make_client
from bears.client.retry import Retries, error_of, paid
from bears.client.run import GivenUp, Run
from bears.client.wire import read_problem

Answer = tuple[EmbeddingRequest, Embedded | ClientError]


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
        async def once() -> Embedded:
            answer = await paid(budget, request, lambda: self._ask(request, post))
            given = answer.vectors.shape[1]
            if given != request.dimensions:
                raise RunStopped(
                    f"{self._access.base_url} answers vectors of {given} dimensions for "
                    f"{self._endpoint.model}, and {request.dimensions} are configured"
                )
            return answer

        try:
            return request, await Retries(self._endpoint, post.gate.clock)(post.run, once)
        except GivenUp:
            return request, post.run.stopped or RequestFailed("not sent")
        except RunStopped as stopped:
            post.run.stop(stopped)
            return request, stopped
        except ClientError as error:
            post.run.over = post.run.over or isinstance(error, BudgetExhausted)
            return request, error

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
        raise error_of(problem, reply.after, self._access, self._endpoint)
