"""One request over the wire: through the gate and the openai client, and what came back."""

from __future__ import annotations

from dataclasses import dataclass, field

import httpx2
import openai

from bears.client.endpoint import Access, Endpoint
from bears.client.limits import Gate, retry_after
from bears.client.run import Run
from bears.client.transport import LeanClient


class Lost(Exception):
    """The request may have been answered, but the answer did not arrive whole."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer.

    Args:
        status: its code.
        content: its body.
        after: seconds that the server asks to wait before the next attempt.
    """

    status: int
    content: bytes
    after: float | None


@dataclass(slots=True)
class Post:
    """Sends the requests of one run.

    Args:
        client: what sends.
        gate: what says when.
        run: on whose behalf.
        path: of the address, after ``/v1``.
    """

    client: openai.AsyncOpenAI
    gate: Gate
    run: Run
    path: str = "/chat/completions"
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "application/json"})

    async def __call__(self, content: bytes, tokens: int) -> Reply:
        """Send ``content`` when it may go; return with the turn to send the next one.

        Args:
            tokens: how many of them the provider counts for this request.

        Raises:
            Lost: no whole answer came.
            GivenUp: the run stopped before it could go.
        """
        with self.run.waiting():
            sent_at = await self.gate.enter(tokens)
        limits, now = self.gate.limits, self.gate.clock.now
        try:
            response = await self._send(content)
        finally:
            limits.ended(tokens)
        await self.run.turns.take()
        limits.learn(now(), response.headers)
        after = None if response.status_code == 200 else retry_after(response.headers)
        if response.status_code == 429:
            limits.refused(sent_at, now(), tokens, after)
        elif response.status_code == 200:
            limits.accepted()
        return Reply(response.status_code, response.content, after)

    async def _send(self, content: bytes) -> httpx2.Response:
        # `chat.completions.create` checks and rebuilds what we have built, and makes a pydantic
        # object of the answer: 0.7 ms of CPU more for each request than this.
        try:
            return await self.client.post(
                self.path,
                cast_to=httpx2.Response,
                content=content,
                options={"headers": self.headers},
            )
        except openai.APIStatusError as error:
            return error.response
        except openai.APITimeoutError:
            reason = "no answer in time"
        except openai.APIConnectionError as error:
            reason = f"the connection was lost ({error.__cause__})"
        raise Lost(reason)


def make_client(access: Access, endpoint: Endpoint) -> openai.AsyncOpenAI:
    """The openai client for one event loop, with its own retries off."""
    return openai.AsyncOpenAI(
        api_key=access.key(),
        base_url=access.base_url,
        max_retries=0,
        http_client=LeanClient(endpoint.concurrency, endpoint.timeout_s),
    )
