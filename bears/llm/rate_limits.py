"""Pacing by requests and tokens a minute: an even stream, taught by what the server says."""

import asyncio
import math
import re
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from bears.llm.pool import RequestPool
from bears.llm.refusals import Refusals, Verdict

LONGEST_WAIT_S = 300.0
"""The longest wait that a server may impose at once."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


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
    """Return the seconds that the server asks to wait, at most `LONGEST_WAIT_S`.

    They are in ``retry-after-ms`` or in ``retry-after``, as seconds or as a date.

    Args:
        headers: with names in small letters.
        now: the time that a date is compared with.
    """
    milliseconds = duration(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return min(LONGEST_WAIT_S, milliseconds / 1000)
    text = headers.get("retry-after", "")
    seconds = duration(text)
    if seconds is not None:
        return min(LONGEST_WAIT_S, seconds)
    try:
        date = parsedate_to_datetime(text)
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    except (ValueError, OverflowError):
        return None
    return min(LONGEST_WAIT_S, max(0.0, seconds))


def number(text: str | None) -> float | None:
    """Return the finite number that a header holds, or None."""
    try:
        value = math.nan if text is None else float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


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
    """The waiting line of a pool before the server: `RateLimits` with the time.

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
                self._run.report(pause, "the limit of requests or tokens is used up")
                await self._run.pause(pause)
            return self.limits.sent(time.monotonic(), tokens)
