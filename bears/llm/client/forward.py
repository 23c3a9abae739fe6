"""Requests of other programs, sent on as they came: paced, retried, within a budget."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bears.llm.client.budget import Bounded, Budget
from bears.llm.client.endpoint import Endpoint, find_access
from bears.llm.client.models import MESSAGE_TOKENS, ceiling
from bears.llm.client.post import Post, make_client
from bears.llm.client.rate_limits import RateLimits, RequestQueue
from bears.llm.client.request_pool import RequestPool
from bears.llm.client.retry import Charged, answered
from bears.llm.client.wire import used

A = TypeVar("A", bound=Charged)

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

    async def __call__(self, request: Sent, body: Mapping[str, Any], read: Callable[[Any], A]) -> A:
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
