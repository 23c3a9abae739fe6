"""Limits of requests: the user's or server's rates per minute, and the cost of a whole run."""

import asyncio
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bears.llm.faults import BudgetExhausted

LONGEST_WAIT_S = 300.0
"""The longest wait that a server may impose at once."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


class Budget:
    """Reserve the most that a request can cost, then settle the actual cost.

    Args:
        limit_usd: the most US dollars to spend; None: no limit.
        where: the configuration key that has the limit, for messages.
    """

    def __init__(self, limit_usd: float | None, where: str = "translator") -> None:
        self.limit, self._where = limit_usd, where
        self.spent = 0.0
        """The cost of the replies, including lost ones that the provider may charge."""
        self.reserved = 0.0
        """The most that the requests in flight can cost."""
        self._in_flight = 0
        self._change = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Set ``amount`` dollars aside, and wait for other requests to settle if needed.

        Raises:
            BudgetExhausted: it does not fit, and no request in flight can free any of the budget.
        """
        async with self._change:
            # A billionth of a dollar is the rounding error of sums.
            while (
                self.limit is not None and self.spent + self.reserved + amount > self.limit + 1e-9
            ):
                if not self._in_flight:
                    raise BudgetExhausted(
                        f"the budget of {self.limit} USD is used up: {self.spent:.4f} USD are "
                        f"spent, and the next request may cost {amount:.4f} USD. The replies so "
                        f"far are kept; raise {self._where}.budget to continue"
                    )
                await self._change.wait()
            self.reserved += amount
            self._in_flight += 1

    async def settle(self, amount: float, cost: float) -> None:
        """Replace a reserved amount by the actual cost.

        It is the whole amount for a reply that is lost, which may be charged, and nothing for a
        request that the provider refused.
        """
        self.spent += cost
        self.reserved -= amount
        self._in_flight -= 1
        if not self._in_flight:
            # Adding and subtracting floats leaves rounding errors.
            self.reserved = 0.0
        async with self._change:
            self._change.notify_all()


def duration(text: str) -> float | None:
    """Parse a number, or a duration such as ``1s``, ``6m0s`` or ``120ms`` into seconds, or None."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, at most `LONGEST_WAIT_S`.

    They are in ``retry-after-ms`` or ``retry-after``. A date in its place is ignored, so that the
    wait is that of a refusal without a header.

    Args:
        headers: with lowercase names.
    """
    milliseconds = duration(headers.get("retry-after-ms", ""))
    seconds = duration(headers.get("retry-after", ""))
    wait = seconds if milliseconds is None else milliseconds / 1000
    return None if wait is None else min(LONGEST_WAIT_S, wait)


MINUTE = 60.0
SHARE = 0.97
"""The share of a limit that the even stream uses."""
BURST = 0.015
"""The share of a limit that may be sent at once. The sum with SHARE is below 1, so no 60 seconds
exceed the limit, wherever they begin."""
CLOSED = 4
"""How many refusals in a row show that the server accepts nothing now."""


@dataclass(slots=True)
class TokenBucket:
    """A limit per minute on requests, or on tokens.

    Args:
        configured: the user's limit.
        level: how much may be sent now; below 0 after one large request.
        reported: the limit that the server reports.
    """

    configured: float | None = None
    level: float = 0.0
    reported: float | None = None
    _at: float | None = None

    @property
    def limit(self) -> float | None:
        """Return the lower of the user's and the server's limit; None if neither is known."""
        known = [limit for limit in (self.configured, self.reported) if limit is not None]
        return min(known) if known else None

    def wait(self, now: float, need: float) -> float:
        """Return the seconds until ``need`` may be sent."""
        limit = self.limit
        if limit is None:
            return 0.0
        self._refill(now, limit)
        if limit != self.configured:
            # An absurdly low limit of a server must not block the run without a message.
            self.level = max(self.level, _burst(limit) - _rate(limit) * LONGEST_WAIT_S)
        lacking = min(need, _burst(limit)) - self.level
        # Less than a billionth is a rounding error of the refill.
        return lacking / _rate(limit) if lacking > 1e-9 else 0.0

    def take(self, now: float, need: float) -> None:
        """Count what is sent; negative: uncount what the server refused."""
        if self.limit is None and self._at is None:
            self._at = now
        self.level -= need

    def learn(self, now: float, limit: float) -> None:
        """Set the limit that the server reports; what was sent before counts as used."""
        first, self.reported = self.limit is None, limit
        if first:
            # At most what a minute allows.
            self.level = max(self.level, -limit) + _burst(limit)
            self._refill(now, limit)

    def credit(self, remaining: float) -> None:
        """Use the server's own count if it is far more generous than ours."""
        if self.limit is not None:
            self.level = max(self.level, min(_burst(self.limit), remaining - self.limit / 2))

    def _refill(self, now: float, limit: float) -> None:
        if self._at is None:
            self._at, self.level = now, _burst(limit)
        elif now > self._at:
            self.level = min(_burst(limit), self.level + (now - self._at) * _rate(limit))
            self._at = now


def _rate(limit: float) -> float:
    return limit * SHARE / MINUTE


def _burst(limit: float) -> float:
    return max(1.0, limit * BURST)


class RateLimits:
    """Decide when to send the next request. Pure: it takes the time and never waits itself.

    The stream is even, at 97 % of the known limit. A client cannot see how the server counts: a
    pace that fits a token bucket breaks a sliding window.

    Args:
        requests_per_minute, tokens_per_minute: the user's limits; None: the server's.
    """

    def __init__(
        self, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.requests = TokenBucket(requests_per_minute)
        self.tokens = TokenBucket(tokens_per_minute)
        self._blocked = 0.0
        self._in_a_row = self._pauses = 0
        self._refused_since = 0.0
        self._in_flight_tokens = 0.0

    def wait(self, now: float, tokens: float) -> float:
        """Return the seconds until a request of ``tokens`` tokens may be sent; 0: now."""
        paces = self.requests.wait(now, 1), self.tokens.wait(now, tokens)
        return max(self._blocked - now, *paces, 0.0)

    def sent(self, now: float, tokens: float) -> None:
        """Count a request that is sent now."""
        self.requests.take(now, 1)
        self.tokens.take(now, tokens)
        self._in_flight_tokens += tokens

    def ended(self, tokens: float) -> None:
        """Count a request that is no longer in flight."""
        self._in_flight_tokens -= tokens

    def learn(self, now: float, headers: Mapping[str, str]) -> None:
        """Read the headers ``x-ratelimit-…``; call it after `ended`."""
        for name, meter in (("requests", self.requests), ("tokens", self.tokens)):
            limit = duration(headers.get(f"x-ratelimit-limit-{name}", ""))
            remaining = duration(headers.get(f"x-ratelimit-remaining-{name}", ""))
            if limit and math.isfinite(limit):
                meter.learn(now, limit)
            if remaining is None:
                continue
            if remaining <= 0:
                reset = duration(headers.get(f"x-ratelimit-reset-{name}", "")) or 0.0
                self._blocked = max(self._blocked, now + min(reset, MINUTE))
            elif meter is self.tokens:
                # Our count includes the longest possible answer, the server's often less.
                meter.credit(remaining - self._in_flight_tokens)

    def accepted(self) -> None:
        """Count a request that the server accepted."""
        self._in_a_row = self._pauses = 0

    def refused(self, now: float, tokens: float, after: float | None) -> float:
        """Count a 429. A few delay only their own requests.

        After `CLOSED` in a row everything waits, for as long as the server says, or longer each
        time.

        Args:
            now: the time.
            tokens: of the request.
            after: the wait that the server asks for, in seconds.

        Returns:
            For how many seconds it has accepted nothing since it refused a request.
        """
        self.requests.take(now, -1)
        self.tokens.take(now, -tokens)
        if not self._in_a_row:
            self._refused_since = now
        self._in_a_row += 1
        # Those that were in flight already are refused as well.
        if self._in_a_row >= CLOSED and now >= self._blocked:
            longer = min(MINUTE, 2.0**self._pauses)
            self._blocked = now + (longer if after is None else after)
            self._pauses += 1
        return now - self._refused_since
