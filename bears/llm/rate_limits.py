"""Rate limits of requests and tokens per minute, learned from the server's responses."""

import math
import re
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime

from bears.llm.refusals import Reaction, Refusals

LONGEST_WAIT_S = 300.0
"""The longest wait that a server may impose at once."""
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def duration(text: str) -> float | None:
    """Parse a duration such as ``1s``, ``6m0s``, ``120ms`` or ``7`` into seconds, or None."""
    text = text.strip()
    if re.fullmatch(r"\d+(\.\d+)?", text):
        return float(text)
    parts = re.findall(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the server asks to wait, at most `LONGEST_WAIT_S`.

    They are in ``retry-after-ms`` or ``retry-after``, or there is a date in ``retry-after``, which
    is compared with the server's own ``date``.

    Args:
        headers: with lowercase names.
    """
    milliseconds = duration(headers.get("retry-after-ms", ""))
    seconds = duration(headers.get("retry-after", ""))
    wait = seconds if milliseconds is None else milliseconds / 1000
    # The values may not be dates, or only one of them may have a time zone.
    with suppress(KeyError, ValueError, TypeError, OverflowError):
        if wait is None:
            then, now = (parsedate_to_datetime(headers[name]) for name in ("retry-after", "date"))
            wait = max(0.0, (then - now).total_seconds())
    return None if wait is None else min(LONGEST_WAIT_S, wait)


def number(text: str | None) -> float | None:
    """Return the finite number that a header holds, or None."""
    with suppress(ValueError):
        if text is not None and math.isfinite(value := float(text)):
            return value
    return None


MINUTE = 60.0
SHARE = 0.97
"""The share of a limit that the even stream uses."""
BURST = 0.015
"""The share of a limit that may be sent at once. The sum with SHARE is below 1, so no 60 seconds
exceed the limit, wherever they begin."""


@dataclass(slots=True)
class TokenBucket:
    """A limit per minute on requests, or on tokens.

    Args:
        configured: the user's limit.
        level: how much may be sent now; below 0 after one large request.
        reported: the limit that the server reports, or that its refusals show.
        slowed: the share of the stream that is left after refusals.
    """

    configured: float | None = None
    level: float = 0.0
    reported: float | None = None
    slowed: float = 1.0
    _at: float | None = None
    _recent: deque[tuple[float, float]] = field(default_factory=deque)

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
            self.level = max(self.level, _burst(limit) - self._rate(limit) * LONGEST_WAIT_S)
        lacking = min(need, _burst(limit)) - self.level
        # Less than a billionth is a rounding error of the refill.
        return lacking / self._rate(limit) if lacking > 1e-9 else 0.0

    def take(self, now: float, need: float) -> None:
        """Count what is sent."""
        self._forget(now)
        self._recent.append((now, need))
        if self.limit is not None:
            self.level -= need

    def give_back(self, now: float, need: float) -> None:
        """Uncount what the server refused."""
        self._recent.append((now, -need))
        self.level += need

    def learn(self, now: float, limit: float) -> None:
        """Set the limit that the server reports; what was sent before counts as used."""
        first = self.limit is None
        self.reported = limit
        if first and self.limit is not None:
            since = self._recent[0][0] if self._recent else now
            gone = self._minute(now)
            self._at = now
            earned = (now - since) * self._rate(self.limit)
            self.level = min(_burst(self.limit), _burst(self.limit) + earned - gone)

    def credit(self, remaining: float) -> None:
        """Use the server's own count if it is far more generous than ours."""
        if self.limit is not None:
            self.level = max(self.level, min(_burst(self.limit), remaining - self.limit / 2))

    def guess(self, now: float, after: float | None) -> None:
        """Guess an unknown limit: about what was accepted in the last minute.

        A short wait that the server asks for shows that the limit is higher: a token bucket asks
        for the time of one request.
        """
        passed = max(1.0, self._minute(now))
        since = self._recent[0][0] if self._recent else now
        seen = passed / (1 + min(MINUTE, now - since) / MINUTE)
        self.learn(now, max(1.0, seen, MINUTE / after if after else MINUTE))

    def restart(self, now: float) -> None:
        """Restart the even stream after a pause, without a burst."""
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
        self.pauses = 0
        self._blocked = 0.0
        self._refusals = Refusals()
        self._slowed_at = 0.0
        self._guessed = False
        self._refused = False
        self._in_flight_tokens = 0.0

    def wait(self, now: float, tokens: float) -> float:
        """Return the seconds until a request of ``tokens`` tokens may be sent; 0: now."""
        pause = self._blocked - now
        if pause > 0:
            return pause
        if self._blocked:
            self._blocked = 0.0
            self.requests.restart(now)
        self._recover(now)
        return max(self.requests.wait(now, 1), self.tokens.wait(now, tokens))

    def sent(self, now: float, tokens: float) -> int:
        """Count a request that is sent now and return its number."""
        self.requests.take(now, 1)
        self.tokens.take(now, tokens)
        self._in_flight_tokens += tokens
        return self._refusals.sent(now)

    def ended(self, tokens: float) -> None:
        """Count a request that is no longer in flight."""
        self._in_flight_tokens -= tokens

    def learn(self, now: float, headers: Mapping[str, str]) -> None:
        """Read the headers ``x-ratelimit-…``; call it after `ended`."""
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
                # Our count includes the longest possible answer, the server's often less.
                meter.credit(remaining - self._in_flight_tokens)

    def accepted(self, number: int) -> None:
        """Count a request that the server accepted."""
        self._refusals.accepted(number)

    def refused(self, number: int, now: float, tokens: float, after: float | None) -> None:
        """Count a 429. A single one delays only its own request.

        If all requests are refused, everything waits, for as long as the server says, or longer
        each time. If many are, the rate falls to what was accepted, for as long as that helps.

        Args:
            number: the return value of `sent`.
            now: the time.
            tokens: of the request.
            after: the wait that the server asks for, in seconds.
        """
        self.requests.give_back(now, 1)
        self.tokens.give_back(now, tokens)
        self._refused = True
        reaction = self._refusals.refused(number, self.requests.limit is not None)
        if reaction.closed:
            self.pauses += 1
            self._guess(now, after)
            longer = min(MINUTE, 2.0 ** (self._refusals.closings - 1))
            self._block(now + (longer if after is None else after))
        elif reaction.share:
            self._slow_down(now, reaction)
        elif reaction.stray:
            self.requests.slowed = 1.0
            if self._guessed:
                self.requests.reported, self._guessed = None, False
        self._slowed_at = now

    def _guess(self, now: float, after: float | None) -> None:
        if self.requests.limit is None or (self._guessed and self.pauses == 1):
            self.requests.guess(now, after)
            self._guessed = True
        else:
            self.requests.slowed = max(0.05, self.requests.slowed * 0.8)

    def _slow_down(self, now: float, reaction: Reaction) -> None:
        accepted = max(0.05, 1 - reaction.share)
        if self.requests.limit is None:
            took = max(0.001, now - reaction.since)
            self.requests.reported = reaction.sent * accepted / took * MINUTE
            self._guessed = True
        else:
            self.requests.slowed = max(0.05, self.requests.slowed * accepted)

    def _recover(self, now: float) -> None:
        """Raise the rate by a tenth after ten seconds without refusals, or else a guessed limit."""
        if now - self._slowed_at < 10 or not self._refused:
            return
        self._slowed_at = now
        if self.requests.slowed < 1:
            self.requests.slowed = min(1.0, self.requests.slowed * 1.1)
        elif self._guessed and self.requests.reported is not None:
            self.requests.reported *= 1.1 if self.pauses == 1 else 1.02

    def _block(self, until: float) -> None:
        self._blocked = max(self._blocked, until)
