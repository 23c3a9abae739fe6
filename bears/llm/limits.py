"""Limits of requests: the user's rates per minute, refusals, and the cost of a whole run."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bears.llm.faults import BudgetExhausted

LONGEST_WAIT_S = 300.0
"""The longest wait that a server may impose at once."""


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


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, at most `LONGEST_WAIT_S`.

    They are in ``retry-after-ms`` or ``retry-after``. A date in its place is ignored, so that the
    wait is that of a refusal without a header.

    Args:
        headers: with lowercase names.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        if re.fullmatch(r"\d+(\.\d+)?", text):
            return min(LONGEST_WAIT_S, float(text) * unit)
    return None


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
        limit: of the user; None: none.
        level: how much may be sent now; below 0 after one large request.
    """

    limit: float | None = None
    level: float = 0.0
    _at: float | None = None

    def wait(self, now: float, need: float) -> float:
        """Return the seconds until ``need`` may be sent."""
        if self.limit is None:
            return 0.0
        self._refill(now, self.limit)
        lacking = min(need, _burst(self.limit)) - self.level
        # Less than a billionth is a rounding error of the refill.
        return lacking / _rate(self.limit) if lacking > 1e-9 else 0.0

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

    The stream is even, at 97 % of the user's limit. A client cannot see how the server counts: a
    pace that fits a token bucket breaks a sliding window.

    Args:
        requests_per_minute, tokens_per_minute: the user's limits; None: none.
    """

    def __init__(
        self, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.requests = TokenBucket(requests_per_minute)
        self.tokens = TokenBucket(tokens_per_minute)
        self._blocked = 0.0
        self._in_a_row = self._pauses = 0
        self._refused_since = 0.0

    def wait(self, now: float, tokens: float) -> float:
        """Return the seconds until a request of ``tokens`` tokens may be sent; 0: now."""
        paces = self.requests.wait(now, 1), self.tokens.wait(now, tokens)
        return max(self._blocked - now, *paces, 0.0)

    def sent(self, tokens: float) -> None:
        """Count a request that is sent now."""
        self.requests.level -= 1
        self.tokens.level -= tokens

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
        self.requests.level += 1
        self.tokens.level += tokens
        if not self._in_a_row:
            self._refused_since = now
        self._in_a_row += 1
        # Those that were in flight already are refused as well.
        if self._in_a_row >= CLOSED and now >= self._blocked:
            longer = min(MINUTE, 2.0**self._pauses)
            self._blocked = now + (longer if after is None else after)
            self._pauses += 1
        return now - self._refused_since
