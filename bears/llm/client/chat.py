"""Asking a model online: many requests at once, paced, retried, within a budget."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path

from bears.llm.client.budget import Budget
from bears.llm.client.endpoint import Endpoint, find_access
from bears.llm.client.errors import RequestRefused
from bears.llm.client.models import Models, Price
from bears.llm.client.post import CHAT, Post, make_client
from bears.llm.client.rate_limits import RateLimits, RequestQueue
from bears.llm.client.request_pool import RequestPool
from bears.llm.client.retry import answered
from bears.llm.client.wire import (
    ChatAnswer,
    ChatRequest,
    Keep,
    Outcome,
    forget,
    read_answer,
    to_body,
)


class Online:
    """A model that answers while one waits.

    Args:
        endpoint: where it is, and how hard it may be asked.
        models: what the models accept and cost.
        budget: what may be spent; None: no cap, and no price is needed.
        env_folder: the folder of ``.env``.

    Raises:
        ConfigurationError: there is no key.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        budget: Budget | None = None,
        env_folder: Path | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.budget = budget or Budget(None, Price(0, 0))
        self.limits = RateLimits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
        self._access = find_access(endpoint, env_folder)
        self._model = models.model(endpoint.model)
        self._schemas = True

    async def answers(
        self, requests: Iterable[ChatRequest], keep: Keep = forget
    ) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield each request with its answer, or why it has none, as they come.

        A request is taken from ``requests`` when a place is free, and at most ``concurrency`` are
        in flight, or answered and not kept yet. Once the budget is used up no more are taken: the
        rest of ``requests`` stays unasked.

        Raises:
            RunStopped: key, model, address or quota are wrong. What is in flight is waited for
                and yielded first; what waits for its turn or its next attempt is not sent.
        """
        run = RequestPool()
        async with make_client(self._access, self.endpoint) as client:
            gate = RequestQueue(self.limits, run)
            post = Post(client, self._access, self.endpoint, CHAT, gate)

            async def answer(request: ChatRequest) -> ChatAnswer:
                found = await answered(
                    run, self.endpoint, self.budget, request, lambda: self._ask(request, post)
                )
                await keep(request, found)
                return found

            async for pair in run.outcomes(requests, answer, self.endpoint.concurrency):
                yield pair

    async def _ask(self, request: ChatRequest, post: Post) -> ChatAnswer:
        schemas = self._schemas
        try:
            return await self._once(request, post)
        except RequestRefused as refused:
            if request.schema is None or not schemas or not refused.about_schema:
                raise
        # The server does not take the schema: it goes into the words for the rest of the run.
        self._schemas = False
        return await self._once(request, post)

    async def _once(self, request: ChatRequest, post: Post) -> ChatAnswer:
        body = to_body(request, self.endpoint.model, self._model, self._schemas)
        tokens = request.expected_tokens()
        return await post(body, tokens, lambda answer: read_answer(answer, request))
