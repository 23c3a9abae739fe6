"""Ask a model online: many requests at once, paced, retried, within a budget.

All requests take this path: those of uses, and texts for vectors.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

import aiohttp
import httpx2
import openai
import tenacity

from bears.errors import FormatError
from bears.files.intake.files import WHOLE_BYTES, beyond, json_value
from bears.files.visible import without_passwords
from bears.llm import faults
from bears.llm.concurrency import RequestPool
from bears.llm.limits import Budget, RateLimits, retry_after
from bears.llm.models import Access, Endpoint, Models, Price, find_access
from bears.llm.wire import ChatAnswer, ChatRequest, Embedded, EmbeddingRequest

LONGEST_WAIT = 60.0
LONGEST_REFUSAL_S = 180.0
"""A server that accepts nothing for longer has another limit than one per minute."""
PATIENCE = 10
"""How many 429 responses one attempt may get, if they ask for no long wait."""
LIMITED = 0.1
"""The share of the first wait that follows a 429 without a wait of its own. It is short because
`RateLimits` slows all requests down if many are refused."""
UNHEARD = 3
"""Attempts to reach a server that has not answered anything yet: its address may be wrong."""


R = TypeVar("R", bound=ChatRequest | EmbeddingRequest)
A = TypeVar("A", bound=ChatAnswer | Embedded)


async def forget(request: object, answer: object) -> None:
    """Keep nothing, for callers that use the answers at once."""


class Client(Generic[R, A]):
    """A model behind an OpenAI-compatible address.

    Args:
        endpoint: the address, and how many requests it gets.
        models: what the models accept and cost.
        budget: what may be spent; None: no limit, and no price is needed.
        env_folder: the folder of ``.env``.
        rate: the provider's known rate limits, if they are to outlive this client.

    Raises:
        ConfigurationError: there is no API key, or no price for a budget.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        rate: RateLimits | None = None,
    ) -> None:
        self.endpoint, self.model = endpoint, models.model(endpoint.model)
        self.budget = budget or Budget(None)
        self.price = endpoint.price_in(models) if budget else Price(0, 0)
        pace = endpoint.requests_per_minute, endpoint.tokens_per_minute
        self.limits = rate or RateLimits(*pace)
        self.access = find_access(endpoint, env_folder)
        self.plain = False
        """Whether the server accepts no JSON schemas."""

    async def answers(
        self, requests: Iterable[R], keep: Callable[[R, A], Awaitable[None]] = forget
    ) -> AsyncIterator[tuple[R, A | faults.ClientError]]:
        """Yield each request with its answer, or why it has none, as they come.

        A request is taken from ``requests`` when a place is free; at most ``concurrency`` are in
        flight, or answered and not kept yet. Once the budget is used up, no more are taken.

        Args:
            requests: what to send.
            keep: called with each answer; returns once a crash cannot lose it.

        Raises:
            RunStopped: key, model, address or quota are wrong. Requests in flight finish and are
                yielded first; those that wait are not sent.
        """
        async with _sender(self.access, self.endpoint.concurrency) as sender:
            connection = Connection(self, sender)

            async def answer(request: R) -> A:
                found = await connection.answer(request)
                await keep(request, found)
                return found

            pool, places = connection.pool, self.endpoint.concurrency
            async for pair in pool.outcomes(requests, answer, places):
                yield pair


Online = Client[ChatRequest, ChatAnswer]
"""A language model behind an address."""


@dataclass
class Connection(Generic[R, A]):
    """A client's connections for one run.

    Args:
        client: whose requests it sends.
        sender: the HTTP client.
        pool: the run.
    """

    client: Client[R, A]
    sender: openai.AsyncOpenAI
    pool: RequestPool = field(default_factory=RequestPool)

    def __post_init__(self) -> None:
        # One request watches the clock; the others queue behind it.
        self._turn = asyncio.Lock()
        self._schema_taken = False
        self._refusal = "the limit of requests or tokens is used up"

    async def answer(self, request: R) -> A:
        """Send a request until it is answered, and pay for each attempt.

        Raises:
            RequestFailed: no attempt was answered.
            RunStopped: no request at all was answered since the first attempt, or every request
                would be refused.
            RequestRefused: the server refuses this request.
            BudgetExhausted: the next attempt does not fit.
            NotSent: the run stopped in a pause.
        """
        before = self.pool.answered
        limited, failed = self._retrying()
        try:
            found: A = await failed(limited, self._paid, request)
        except faults.Again as again:
            attempts = failed.statistics["attempt_number"]
            problem = f"no answer after {attempts} attempts, the last one: {again}"
            if isinstance(again, faults.Unavailable) and self.pool.answered == before:
                raise faults.RunStopped(f"{problem}. {again.remedy}") from None
            raise faults.RequestFailed(problem) from None
        self.pool.answered += 1
        return found

    def _retrying(self) -> tuple[tenacity.AsyncRetrying, tenacity.AsyncRetrying]:
        """Return the retries after a 429, and around them those after all temporary faults."""
        pool, endpoint = self.pool, self.client.endpoint
        limited = tenacity.AsyncRetrying(
            # A server that is closed for long must end the retries at some point.
            retry=tenacity.retry_if_exception(
                lambda error: (
                    isinstance(error, faults.RateLimited) and (error.after or 0) <= pool.long_s
                )
            ),
            wait=_wait(endpoint.backoff_s * LIMITED),
            stop=tenacity.stop_after_attempt(PATIENCE),
            sleep=pool.rest,
            reraise=True,
        )
        failed = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(faults.Again),
            wait=_wait(endpoint.backoff_s),
            stop=self._is_enough,
            sleep=pool.pause,
            before_sleep=lambda state: pool.report(state.upcoming_sleep, str(_again(state))),
            reraise=True,
        )
        return limited, failed

    def _is_enough(self, state: tenacity.RetryCallState) -> bool:
        unheard = isinstance(_again(state), faults.Unreachable) and not self.pool.answered
        attempts = self.client.endpoint.attempts
        return state.attempt_number >= (min(attempts, UNHEARD) if unheard else attempts)

    async def _paid(self, request: R) -> A:
        budget, price, cost = self.client.budget, self.client.price, 0.0
        amount = price.of(request.most_input_tokens(), request.max_output_tokens)
        await budget.reserve(amount)
        try:
            answer = await self._ask(request)
            cost = price.of(answer.input_tokens, answer.output_tokens)
        except (faults.Lost, asyncio.CancelledError):
            # It may be charged.
            cost = amount
            raise
        finally:
            await budget.settle(amount, cost)
        return answer

    async def _ask(self, request: R) -> A:
        client = self.client
        plain = client.plain or request.schema is None
        try:
            answer = await self._once(request, plain)
            self._schema_taken |= not plain
            return answer
        except faults.Unexplained:
            if plain or self._schema_taken:
                raise
        # The server may refuse the schema; then the text has it for the rest of the run.
        answer = await self._once(request, plain=True)
        client.plain = True
        return answer

    async def _once(self, request: R, plain: bool) -> A:
        """Send a request when the rate limits allow it, and read the answer.

        Args:
            request: what to send.
            plain: whether its text has the JSON schema.

        Raises:
            Exception: one of `bears.llm.faults`.
        """
        client, limits = self.client, self.client.limits
        where, strange = client.endpoint.where, False
        tokens = request.expected_tokens()
        body = request.body(client.endpoint.model, client.model, plain)
        await self._next(tokens)
        try:
            response = await self._send(request.path, body)
        finally:
            limits.ended(tokens)
        limits.learn(time.monotonic(), response.headers)
        if response.status_code == 200:
            try:
                answer = json_value(response.content, "the JSON of the answer", halves=True)
                if not isinstance(answer, dict) or (
                    request.holds in answer and not answer.get("error")
                ):
                    limits.accepted()
                    return cast(A, request.read(answer))
                strange = "error" not in answer
            except (FormatError, ValueError) as error:
                raise faults.Lost(
                    client.access.clean(f"the answer cannot be read: {error}")
                ) from None
        after = retry_after(response.headers)
        problem = faults.read_problem(response.status_code, response.content)
        words = f"{problem} {without_passwords(response.headers.get('location', ''))}".strip()
        message = f"{client.access.base_url} answers {client.access.clean(words)}"
        if problem.status == 429:
            self._refusal = message
            if limits.refused(time.monotonic(), tokens, after) > LONGEST_REFUSAL_S:
                raise faults.RunStopped(
                    f"{message}. It accepts nothing any more; run this again later"
                )
        if strange and problem.status == 200 and not self.pool.answered:
            raise faults.RunStopped(f"{message}. {faults.REMEDY.format(where=where)}")
        raise problem.fault(message, after, where)

    async def _next(self, tokens: int) -> None:
        """Wait until the rate limits allow a request.

        Raises:
            NotSent: the run stopped before.
        """
        pool, limits = self.pool, self.client.limits
        async with self._turn:
            await pool.pause(0)
            while (pause := limits.wait(time.monotonic(), tokens)) > 0:
                pool.report(pause, self._refusal)
                await pool.pause(pause)
            limits.sent(time.monotonic(), tokens)

    async def _send(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        address = self.client.access.base_url
        try:
            # For the whole answer; the client's own limit restarts with every part of it.
            async with asyncio.timeout(self.client.endpoint.timeout_s):
                return await self.sender.post(path, cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return error.response
        except FormatError as error:
            raise faults.Lost(f"{address} sends too much: {error}") from None
        except TimeoutError:
            raise faults.Lost(f"{address} gave no answer in time") from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause.__cause__, aiohttp.ClientConnectorError):
                # Nothing was sent, so nothing can be charged.
                raise faults.Unreachable(f"no connection to {address} ({cause})") from None
            raise faults.Lost(f"the connection to {address} was lost ({cause})") from None


def _again(state: tenacity.RetryCallState) -> faults.Again:
    again = state.outcome.exception() if state.outcome else None
    assert isinstance(again, faults.Again)
    return again


def _wait(first: float) -> Callable[[tenacity.RetryCallState], float]:
    """Return a function for the next wait: what a 429 asks for, or an exponential backoff."""
    grows = tenacity.wait_exponential_jitter(multiplier=first, max=LONGEST_WAIT, jitter=first)

    def wait(state: tenacity.RetryCallState) -> float:
        again = _again(state)
        if isinstance(again, faults.RateLimited) and again.after is not None:
            return again.after
        return max(again.after or 0.0, grows(state))

    return wait


def _sender(access: Access, places: int) -> openai.AsyncOpenAI:
    """Return the openai client for one event loop."""
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        # Attempts and their time are counted here.
        max_retries=0,
        timeout=None,
        # It takes half of the CPU time of the default client, which matters at 300 requests/s.
        http_client=openai.DefaultAioHttpClient(
            limits=httpx2.Limits(max_connections=places),
            # The texts and the key are for this address alone.
            follow_redirects=False,
            event_hooks={"response": [_read_bounded]},
        ),
    )


async def _read_bounded(response: httpx2.Response) -> None:
    """Read a response before the client does, and stop at the limit.

    Raises:
        FormatError: the unpacked response is too long.
    """
    parts, size = [], 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > WHOLE_BYTES:
            raise beyond("the reply", "it has too many bytes", WHOLE_BYTES)
        parts.append(part)
    # The client takes this for its own reading.
    response._content = b"".join(parts)
