"""Asking a provider for embeddings: batches of texts, paced, retried, within a budget."""

from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Any

from bears.llm.budget import Budget
from bears.llm.client import Post, answered, make_client
from bears.llm.embedding import Embedded, EmbeddingRequest, read_vectors
from bears.llm.endpoint import Endpoint, find_access
from bears.llm.faults import ClientError, RunStopped
from bears.llm.models import Models
from bears.llm.pool import RequestPool
from bears.llm.rate_limits import RateLimits, RequestQueue

EmbeddingOutcome = tuple[EmbeddingRequest, Embedded | ClientError]


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
        limits: RateLimits,
        env_folder: Path | None = None,
    ) -> None:
        self._endpoint, self._limits = endpoint, limits
        self._access = find_access(endpoint, env_folder)
        self._told = "dimensions" not in models.model(endpoint.model).refuses

    async def answers(
        self, requests: Iterable[EmbeddingRequest], budget: Budget
    ) -> AsyncIterator[EmbeddingOutcome]:
        """Yield each request with its vectors, or why it has none, as they come.

        At most ``concurrency`` are in flight. After BudgetExhausted or RunStopped no more are
        taken from ``requests``; what is in flight still comes.

        Args:
            budget: what may be spent; of one event loop.

        Raises:
            RunStopped: key, model, address, quota or dimensions are wrong.
        """
        run = RequestPool()
        async with make_client(self._access, self._endpoint) as client:
            gate = RequestQueue(self._limits, run)
            post = Post(client, self._access, self._endpoint, "/embeddings", gate)

            async def answer(request: EmbeddingRequest) -> Embedded:
                found = await answered(
                    run, self._endpoint, budget, request, lambda: self._ask(request, post)
                )
                self._check(found.vectors.shape[1], request)
                return found

            async for pair in run.outcomes(requests, answer, self._endpoint.concurrency):
                yield pair

    def _check(self, dimensions: int, request: EmbeddingRequest) -> None:
        if dimensions != request.dimensions:
            raise RunStopped(
                f"{self._access.base_url} answers vectors of {dimensions} dimensions for "
                f"{self._endpoint.model}, and {request.dimensions} are configured"
            )

    async def _ask(self, request: EmbeddingRequest, post: Post) -> Embedded:
        body: dict[str, Any] = {"model": self._endpoint.model, "input": request.texts}
        body["encoding_format"] = "base64"
        if self._told:
            body["dimensions"] = request.dimensions
        tokens = request.expected_tokens()
        return await post(body, tokens, lambda answer: read_vectors(answer, request))
