"""Pacing by requests and tokens a minute: an even stream, taught by what the server says."""

import asyncio
import time
from collections.abc import Mapping

from bears.llm.client.refusals import Refusals, Verdict
from bears.llm.client.request_pool import RequestPool
from bears.llm.client.response_headers import duration, number
from bears.llm.client.token_bucket import MINUTE, TokenBucket


class RateLimits:
    """When the next request may go. Pure: it is told the time and never waits itself.

    The stream is even, at 97 % of the known limit, because a server's window cannot be seen from
    here: what fits a token bucket breaks a sliding window.

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
        self._refusals = Refusals()
        self._slowed_at = 0.0
        self._guessed = False
        self._refused = False
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

    def sent(self, now: float, tokens: float) -> int:
        """A request goes out; returns its number."""
        self.requests.take(now, 1)
        self.tokens.take(now, tokens)
        self._in_flight_tokens += tokens
        return self._refusals.sent(now)

    def ended(self, tokens: float) -> None:
        """A request has come back, one way or the other."""
        self._in_flight_tokens -= tokens

    def learn(self, now: float, headers: Mapping[str, str]) -> None:
        """Read ``x-ratelimit-…``; call it after `ended`."""
        for name, meter in (("requests", self.requests), ("tokens", self.tokens)):
            limit = number(headers.get(f"x-ratelimit-limit-{name}"))
            remaining = number(headers.get(f"x-ratelimit-remaining-{name}"))
            if limit and limit > 0:
                if meter is self.requests and (self._guessed or meter.limit is None):
                    self._guessed = False
                    self._refusals.begin()
                meter.learn(now, limit)
            if remaining is None:
                continue
            if remaining <= 0:
                reset = duration(headers.get(f"x-ratelimit-reset-{name}", "")) or 0.0
                self._block(now + min(reset, MINUTE))
            elif meter is self.tokens:
                # Ours counts the longest answer that was allowed, the server's often less.
                meter.credit(remaining - self._in_flight_tokens)

    def accepted(self, number: int) -> None:
        """The server took a request."""
        self._refusals.accepted(number)

    def refused(self, number: int, now: float, tokens: float, after: float | None) -> None:
        """A 429. A single one holds nobody else back: whoever is refused waits by itself.

        Where all are refused, everything waits, for as long as the server says, or longer each
        time. Where many are, the pace falls to what was accepted, for as long as that helps.

        Args:
            number: what `sent` gave the request.
            after: what the server asks for, in seconds.
        """
        self.requests.give_back(now, 1)
        self.tokens.give_back(now, tokens)
        self._refused = True
        verdict = self._refusals.refused(number, self.requests.limit is not None)
        if verdict.closed:
            self.pauses += 1
            self._guess(now, after)
            longer = min(MINUTE, 2.0 ** (self._refusals.closings - 1))
            self._block(now + (longer if after is None else after))
        elif verdict.share:
            self._slow_down(now, verdict)
        elif verdict.stray:
            self.requests.slowed = 1.0
            if self._guessed:
                self.requests.told, self._guessed = None, False
        self._slowed_at = now

    def _guess(self, now: float, after: float | None) -> None:
        if self.requests.limit is None or (self._guessed and self.pauses == 1):
            self.requests.guess(now, after)
            self._guessed = True
        else:
            self.requests.slowed = max(0.05, self.requests.slowed * 0.8)

    def _slow_down(self, now: float, verdict: Verdict) -> None:
        accepted = max(0.05, 1 - verdict.share)
        if self.requests.limit is None:
            took = max(0.001, now - verdict.since)
            self.requests.told = verdict.sent * accepted / took * MINUTE
            self._guessed = True
        else:
            self.requests.slowed = max(0.05, self.requests.slowed * accepted)

    def _recover(self, now: float) -> None:
        """Give a tenth back for every ten quiet seconds, and let a mere guess grow."""
        if now - self._slowed_at < 10 or not self._refused:
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

    async def enter(self, tokens: float) -> int:
        """Wait for one's turn; returns the number of the request, which goes out now.

        Raises:
            NotSent: the run stopped before.
        """
        async with self._line:
            await self._run.pause(0)
            while (pause := self.limits.wait(time.monotonic(), tokens)) > 0:
                await self._run.pause(pause, "the limit of requests or tokens is used up")
            return self.limits.sent(time.monotonic(), tokens)
