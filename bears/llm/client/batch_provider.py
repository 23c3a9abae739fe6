"""Calls of the provider's Batch API: tried again where that can help, and errors understood."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import openai
import tenacity

from bears.llm.client.endpoint import Access, Endpoint
from bears.llm.client.errors import RunStopped
from bears.llm.client.post import make_client
from bears.llm.client.wire import read_problem

MARK = "bears_mark"
TRANSFER_S = 1800.0
"""How long a part of a file as large as those of batches may take."""


def retrying(endpoint: Endpoint) -> tenacity.AsyncRetrying:
    """What calls a function with its arguments, again where another attempt may succeed."""
    return tenacity.AsyncRetrying(
        retry=tenacity.retry_if_exception(_passes),
        wait=tenacity.wait_exponential_jitter(
            multiplier=endpoint.backoff_s, max=60, jitter=endpoint.backoff_s
        ),
        stop=tenacity.stop_after_attempt(endpoint.attempts),
        reraise=True,
    )


async def create(
    client: openai.AsyncOpenAI, retry: tenacity.AsyncRetrying, file: str, mark: str
) -> str:
    """Make a batch, unless an attempt of ``retry`` whose answer was lost has made it."""
    if retry.statistics["attempt_number"] > 1 and (found := await find(client, mark)):
        return found
    batch = await client.batches.create(
        input_file_id=file,
        endpoint="/v1/chat/completions",
        completion_window="24h",
        metadata={MARK: mark},
    )
    return batch.id


async def find(client: openai.AsyncOpenAI, mark: str) -> str:
    """The id of the batch with our ``mark``; empty if there is none."""
    async for batch in client.batches.list(limit=100):
        if (batch.metadata or {}).get(MARK) == mark:
            return batch.id
    return ""


@asynccontextmanager
async def batch_client(access: Access, endpoint: Endpoint) -> AsyncIterator[openai.AsyncOpenAI]:
    """The client; within, an error of its calls stops the run.

    Raises:
        RunStopped: the provider takes no batches from us.
    """
    try:
        async with make_client(access, endpoint, TRANSFER_S) as client:
            yield client
        return
    except openai.APIStatusError as error:
        told = str(read_problem(error.status_code, error.response.content))
    except openai.APIConnectionError as error:
        told = f"{type(error).__name__} ({error.__cause__})"
    raise RunStopped(access.clean(f"{access.base_url} takes no batches: {told}")) from None


def _passes(error: BaseException) -> bool:
    if isinstance(error, openai.APIStatusError):
        return read_problem(error.status_code, error.response.content).passes
    return isinstance(error, openai.APIConnectionError)
