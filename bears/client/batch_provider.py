"""The provider's calls for batches and their files, each tried again where that can help."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import openai
import tenacity
from openai.types import Batch as ProviderBatch

from bears.client.endpoint import Access, Endpoint
from bears.client.errors import RunStopped
from bears.client.limits import Clock
from bears.client.transport import LeanClient
from bears.client.wire import Problem, read_problem

T = TypeVar("T")

MARK = "bears_mark"
TRANSFER_S = 1800.0


@dataclass(frozen=True, slots=True)
class Provider:
    """The Batch API.

    Args:
        client: what sends.
        access: where it is.
        endpoint: how often a call is tried.
        clock: the time.

    Every call raises RunStopped when the provider does not take it.
    """

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


def make_client(access: Access, endpoint: Endpoint) -> openai.AsyncOpenAI:
    """The openai client for files as large as those of batches, with its own retries off."""
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        max_retries=0,
        http_client=LeanClient(8, max(TRANSFER_S, endpoint.timeout_s)),
    )
