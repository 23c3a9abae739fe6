"""Pacing by requests and tokens a minute: an even stream, taught by what the server says."""

import asyncio
import time
from collections.abc import Mapping

from bears.client.request_pool import RequestPool
from bears.client.response_headers import duration, number
from bears.client.token_bucket import MINUTE, TokenBucket


class RateLimits:
    """When the next request may go. Pure: it is told the time and never waits itself.

    The stream is even, at 97 % of the known limit, because a server's window cannot be seen from
    here: what fits a token bucket breaks a sliding window. A 429 holds everything back.

    Args:
        requests_per_minute, tokens_per_minute: what the user gives; None leaves it to the server.
    """

    def __init__(
        self, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.requests = TokenBucket(requests_per_minute)
        self.tokens = TokenBucket(tokens_per_minute)
        self.pauses = 0
        self._blocked = 0.0
        self._since = float("-inf")
        self._slowed_at = float("-inf")
        self._known_at = float("-inf") if requests_per_minute else float("inf")
        self._guessed = False
        self._row = 0
        self._refused: float = 0
        self._in_flight_tokens = 0.0

    def wait(self, now: float, tokens: float) -> float:
        """Seconds until a request of so many tokens may go; 0: now."""
        pause = self._blocked - now
        if pause > 0:
            return pause
        if self._blocked:
            self._blocked = 0.0
            self.requests.restart(now)
        self._recover(now)
        return max(self.requests.wait(now, 1), self.tokens.wait(now, tokens))

    def sent(self, now: float, tokens: float) -> None:
        """A request goes out."""
        self.requests.take(now, 1)
        self.tokens.take(now, tokens)
        self._in_flight_tokens += tokens

    def ended(self, tokens: float) -> None:
        """A request has come back, one way or the other."""
        self._in_flight_tokens -= tokens

    def learn(self, now: float, headers: Mapping[str, str]) -> None:
        """Read ``x-ratelimit-…``; call it after `ended`."""
        for name, meter in (("requests", self.requests), ("tokens", self.tokens)):
            limit = number(headers.get(f"x-ratelimit-limit-{name}"))
            remaining = number(headers.get(f"x-ratelimit-remaining-{name}"))
            if limit:
                if meter is self.requests:
                    self._known_at = min(self._known_at, now)
                    self._guessed = False
                meter.learn(now, limit)
            if remaining is None:
                continue
            if remaining <= 0:
                reset = duration(headers.get(f"x-ratelimit-reset-{name}", "")) or 0.0
                self._block(now + min(reset, MINUTE))
            elif meter is self.tokens:
                # Ours counts the longest answer that was allowed, the server's often less.
                meter.credit(remaining - self._in_flight_tokens)

    def accepted(self) -> None:
        """The server took a request: the next refusal is the first in its row."""
        self._row = 0

    def refused(self, sent_at: float, now: float, tokens: float, after: float | None) -> None:
        """A 429: everything waits, for as long as the server says, or longer each time.

        Args:
            sent_at: when the refused request went out: those of one volley count once.
            after: what the server asks for, in seconds.
        """
        self.requests.give_back(1)
        self.tokens.give_back(tokens)
        self._refused += 1
        first = sent_at >= self._since
        if first:
            self._since, self.pauses, self._row = now, self.pauses + 1, self._row + 1
            self._slow_down(sent_at, now, after)
        pause = after if after is not None else min(MINUTE, 2.0 ** (self._row - 1))
        if first or after is not None:
            self._block(now + pause)

    def _slow_down(self, sent_at: float, now: float, after: float | None) -> None:
        if self.requests.limit is None:
            self.requests.guess(now, self._refused, after)
            self._known_at, self._guessed = now, True
        elif sent_at >= self._known_at:
            self.requests.slowed = max(0.05, self.requests.slowed * 0.8)
        self._slowed_at = now

    def _recover(self, now: float) -> None:
        """Give a tenth back for every ten quiet seconds, and let a mere guess grow."""
        if now - self._slowed_at < 10 or self._since == float("-inf"):
            return
        self._slowed_at = now
        if self.requests.slowed < 1:
            self.requests.slowed = min(1.0, self.requests.slowed * 1.1)
        elif self._guessed and self.requests.told is not None:
            self.requests.told *= 1.1 if self.pauses == 1 else 1.02

    def _block(self, until: float) -> None:
        self._blocked = max(self._blocked, until)


class RequestQueue:
    """the waiting line of a pool before the server: `RateLimits` with the time.

    Args:
        limits: what says when.
        run: on whose behalf.
    """

    def __init__(self, limits: RateLimits, run: RequestPool) -> None:
        self.limits, self._run = limits, run
        # One request watches the clock, the others stand behind it, first come first served.
        self._line = asyncio.Lock()

    async def enter(self, tokens: float) -> float:
        """Wait for one's turn; returns the time at which the request goes out.

        Raises:
            NotSent: the run stopped before.
        """
        async with self._line:
            await self._run.pause(0)
            while (pause := self.limits.wait(time.monotonic(), tokens)) > 0:
                await self._run.pause(pause)
            now = time.monotonic()
            self.limits.sent(now, tokens)
            return now
