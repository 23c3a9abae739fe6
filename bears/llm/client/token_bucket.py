"""How much of one quantity, requests or tokens, may go now."""

from collections import deque
from dataclasses import dataclass, field

from bears.llm.client.response_headers import LONGEST_WAIT_S

MINUTE = 60.0
SHARE = 0.97
"""The part of a limit that the even stream uses."""
BURST = 0.015
"""The part of a limit that may go at once. With SHARE it stays below 1, so that no 60 seconds,
wherever they begin, hold more than the limit."""


@dataclass(slots=True)
class TokenBucket:
    """One quantity of which a minute may hold so much.

    Args:
        configured: the limit that the user gives.
        level: how much may go now; below 0 after one large request.
        told: the limit that the server gives, or that its refusals show.
        slowed: the part of the stream that refusals have left.
    """

    configured: float | None = None
    level: float = 0.0
    told: float | None = None
    slowed: float = 1.0
    _at: float | None = None
    _recent: deque[tuple[float, float]] = field(default_factory=deque)

    @property
    def limit(self) -> float | None:
        """The lower of what the user and the server say; None while neither has spoken."""
        known = [limit for limit in (self.configured, self.told) if limit is not None]
        return min(known) if known else None

    def wait(self, now: float, need: float) -> float:
        """Seconds until ``need`` may go."""
        limit = self.limit
        if limit is None:
            return 0.0
        self._refill(now, limit)
        if limit != self.configured:
            # A server that gives an absurdly low limit would stop the run without a word.
            self.level = max(self.level, _burst(limit) - self._rate(limit) * LONGEST_WAIT_S)
        lacking = min(need, _burst(limit)) - self.level
        # Less than a billionth is the rounding of the refill, not a debt.
        return lacking / self._rate(limit) if lacking > 1e-9 else 0.0

    def take(self, now: float, need: float) -> None:
        """Count what goes out."""
        self._forget(now)
        self._recent.append((now, need))
        if self.limit is not None:
            self.level -= need

    def give_back(self, now: float, need: float) -> None:
        """Uncount what the server refused."""
        self._recent.append((now, -need))
        self.level += need

    def learn(self, now: float, limit: float) -> None:
        """Take the server's word for the limit; what went before counts as gone."""
        first = self.limit is None
        self.told = limit
        if first and self.limit is not None:
            since = self._recent[0][0] if self._recent else now
            gone = self._minute(now)
            self._at = now
            earned = (now - since) * self._rate(self.limit)
            self.level = min(_burst(self.limit), _burst(self.limit) + earned - gone)

    def credit(self, remaining: float) -> None:
        """Use the server's own count where it is far more generous than ours."""
        if self.limit is not None:
            self.level = max(self.level, min(_burst(self.limit), remaining - self.limit / 2))

    def guess(self, now: float, after: float | None) -> None:
        """Nobody gives a limit, yet the server refuses: it is about what has passed in a minute.

        A short wait that the server asks for shows that it is higher: a bucket asks for the time
        of one request.
        """
        passed = max(1.0, self._minute(now))
        since = self._recent[0][0] if self._recent else now
        seen = passed / (1 + min(MINUTE, now - since) / MINUTE)
        self.learn(now, max(1.0, seen, MINUTE / after if after else MINUTE))

    def restart(self, now: float) -> None:
        """Begin the even stream anew after a pause, without a burst."""
        if self.limit is not None:
            self._refill(now, self.limit)
        self.level = min(self.level, 1.0)

    def _forget(self, now: float) -> None:
        while self._recent and self._recent[0][0] <= now - MINUTE:
            self._recent.popleft()

    def _minute(self, now: float) -> float:
        self._forget(now)
        return sum(amount for _, amount in self._recent)

    def _refill(self, now: float, limit: float) -> None:
        if self._at is None:
            self._at, self.level = now, _burst(limit)
        elif now > self._at:
            self.level = min(_burst(limit), self.level + (now - self._at) * self._rate(limit))
            self._at = now

    def _rate(self, limit: float) -> float:
        return limit * SHARE * self.slowed / MINUTE


def _burst(limit: float) -> float:
    return max(1.0, limit * BURST)
