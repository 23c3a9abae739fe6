"""Pacing by requests and tokens a minute: an even stream, taught by what the server says."""

from __future__ import annotations

import asyncio
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MINUTE = 60.0
SHARE = 0.97
"""The part of a limit that the even stream uses."""
BURST = 0.015
"""The part of a limit that may go at once. With SHARE it stays below 1, so that no 60 seconds,
wherever they begin, hold more than the limit."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and waiting, so that a test can have its own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


def duration(text: str) -> float | None:
    """Seconds of a duration such as ``1s``, ``6m0s``, ``120ms`` or ``7``; None if it is none."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that the server asks to wait: ``retry-after-ms``, ``retry-after`` (seconds or date).

    Args:
        headers: with names in small letters.
        now: the time that a date is compared with.
    """
    milliseconds = duration(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "")
    seconds = duration(text)
    if seconds is not None:
        return seconds
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    date = date if date.tzinfo else date.replace(tzinfo=UTC)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds())


@dataclass(slots=True)
class Meter:
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
        lacking = min(need, _burst(limit)) - self.level
        # Less than a billionth is the rounding of the refill, not a debt.
        return lacking / self._rate(limit) if lacking > 1e-9 else 0.0

    def take(self, now: float, need: float) -> None:
        """Count what goes out."""
        if self.limit is None:
            self._recent.append((now, need))
        else:
            self.level -= need

    def give_back(self, need: float) -> None:
        """Uncount what the server refused."""
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

    def guess(self, now: float, refused: float, after: float | None) -> None:
        """Nobody gives a limit, yet the server refuses: it is about what has passed in a minute.

        A short wait that the server asks for shows that it is higher: a bucket asks for the time
        of one request.
        """
        passed = max(1.0, self._minute(now) - refused)
        since = self._recent[0][0] if self._recent else now
        seen = passed / (1 + min(MINUTE, now - since) / MINUTE)
        self.learn(now, max(1.0, seen, MINUTE / after if after else MINUTE))

    def restart(self, now: float) -> None:
        """Begin the even stream anew after a pause, without a burst."""
        if self.limit is not None:
            self._refill(now, self.limit)
        self.level = min(self.level, 1.0)

    def _minute(self, now: float) -> float:
        while self._recent and self._recent[0][0] <= now - MINUTE:
            self._recent.popleft()
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


class Limits:
    """When the next request may go. Pure: it is told the time and never waits itself.

    The stream is even, at 97 % of the known limit, because a server's window cannot be seen from
    here: what fits a token bucket breaks a sliding window. A 429 holds everything back.

    Args:
        requests_per_minute, tokens_per_minute: what the user gives; None leaves it to the server.
    """

    def __init__(
        self, requests_per_minute: float | None = None, tokens_per_minute: float | None = None
    ) -> None:
        self.requests = Meter(requests_per_minute)
        self.tokens = Meter(tokens_per_minute)
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
            limit = _number(headers.get(f"x-ratelimit-limit-{name}"))
            remaining = _number(headers.get(f"x-ratelimit-remaining-{name}"))
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


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


class Gate:
    """The waiting line before the server: `Limits` with a clock.

    Args:
        limits: what says when.
        clock: the time and the waiting.
    """

    def __init__(self, limits: Limits, clock: Clock | None = None) -> None:
        self.limits = limits
        self.clock = clock or Clock()
        # One request watches the clock, the others stand behind it, first come first served.
        self._line = asyncio.Lock()

    async def enter(self, tokens: float) -> float:
        """Wait for one's turn; returns the time at which the request goes out."""
        if self._line.locked() or self.limits.wait(self.clock.now(), tokens) > 0:
            async with self._line:
                while (pause := self.limits.wait(self.clock.now(), tokens)) > 0:
                    await self.clock.sleep(pause)
                return self._go(tokens)
        return self._go(tokens)

    def _go(self, tokens: float) -> float:
        now = self.clock.now()
        self.limits.sent(now, tokens)
        return now
