"""Rate limits, in simulated time against three kinds of limiters, and once in real time."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
import time
from dataclasses import dataclass
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bears.llm.client import LIMITED, Online
from bears.llm.limits import RateLimits, TokenBucket, duration, retry_after
from bears.llm.models import Endpoint, Models
from bears.llm.wire import ChatAnswer, ChatRequest
from tests.provider_server import Limiter, ProviderServer

LATENCY = 0.8


@dataclass
class Simulation:
    """Workers, `RateLimits` and a provider's limiter in simulated time."""

    limiter: Limiter
    limits: RateLimits
    headers: bool
    with_wait: bool
    places: int = 64
    stray: float = 0.0
    latency: float = LATENCY
    refusal: float = 0.01

    def __post_init__(self) -> None:
        self.replies: list[tuple[float, int]] = []
        self.dice = random.Random(5)
        self._order = count()

    def run(self, number: int) -> float:
        """Answer so many requests and return the seconds it took."""
        random.seed(5)
        # When a request may be sent again, its name, and how often it was refused.
        ready = [(0.0, name, 0) for name in range(number)]
        now = 0.0
        events: list[tuple[float, int, tuple[int, int, bool, dict[str, str]]]] = []
        while ready or events:
            assert now < 100_000, "no end in sight"
            pause = None
            if ready and len(events) < self.places:
                pause = max(0.0, ready[0][0] - now) or self.limits.wait(now, 10)
            if pause == 0:
                _, name, tries = heapq.heappop(ready)
                self.limits.sent(now, 10)
                sent = next(self._order)
                allowed, headers, ends = self._arrive(now)
                heapq.heappush(events, (ends, sent, (name, tries, allowed, headers)))
                continue
            if events and (pause is None or events[0][0] <= now + pause):
                now, sent, (name, tries, allowed, headers) = heapq.heappop(events)
                self._receive(now, allowed, headers)
                if not allowed:
                    own = retry_after(headers)
                    own = LIMITED * (2**tries + random.random()) if own is None else own
                    heapq.heappush(ready, (now + own, name, tries + 1))
            else:
                assert pause is not None
                now += pause
        return now

    def _arrive(self, now: float) -> tuple[bool, dict[str, str], float]:
        # The way to the server takes a little, and varies.
        arrival = now + 0.02 + 0.01 * (next(self._order) % 3)
        allowed, left, wait = self.limiter.take(arrival)
        headers = {
            "x-ratelimit-limit-requests": f"{self.limiter.limit:g}",
            "x-ratelimit-remaining-requests": f"{left:g}",
            "x-ratelimit-reset-requests": f"{wait * 1000:.0f}ms",
        }
        headers = headers if self.headers else {}
        if allowed and self.dice.random() < self.stray:
            allowed, wait = False, 0.2
        if not allowed and self.with_wait:
            headers["retry-after"] = f"{wait:.3f}"
        self.replies.append((arrival, allowed))
        return allowed, headers, arrival + (self.latency if allowed else self.refusal)

    def _receive(self, now: float, allowed: bool, headers: dict[str, str]) -> None:
        self.limits.ended(10)
        self.limits.learn(now, headers)
        if allowed:
            self.limits.accepted()
        else:
            self.limits.refused(now, 10, retry_after(headers))

    def late_refusals(self) -> float:
        """Return the share of requests after the first minute that were refused."""
        late = [allowed for at, allowed in self.replies if at > 60]
        return late.count(False) / len(late) if late else 0.0


@pytest.mark.parametrize("kind", ["bucket", "sliding", "fixed"])
@pytest.mark.parametrize("limit", [20.0, 60.0, 500.0, 3000.0])
@pytest.mark.parametrize(("configured", "headers"), [(True, False), (True, True), (False, True)])
@pytest.mark.parametrize("with_wait", [True, False])
def test_a_known_limit_is_used_up_and_not_exceeded(
    kind: str, limit: float, configured: bool, headers: bool, with_wait: bool
) -> None:
    limits, number = RateLimits(limit if configured else None), int(3 * limit)
    simulation = Simulation(Limiter(kind, limit), limits, headers, with_wait)
    took = simulation.run(number)
    assert took <= 1.1 * number / limit * 60 + LATENCY
    assert simulation.late_refusals() <= 0.01
    if configured:
        assert sum(not allowed for _, allowed in simulation.replies) == 0


class Unpaced(RateLimits):
    """Limits that never delay a request: no client that waits as requested is faster."""

    def refused(self, now: float, tokens: float, after: float | None) -> float:
        del now, tokens, after
        return 0.0


def test_a_refusal_lasts_from_the_first_one_after_an_answer() -> None:
    limits = RateLimits()
    assert [limits.refused(now, 1, None) for now in (5, 8, 200)] == [0, 3, 195]
    limits.accepted()
    # A slow pace of one's own does not count.
    assert [limits.refused(now, 1, 300) for now in (900, 901)] == [0, 1]


@pytest.mark.parametrize(("latency", "refusal"), [(0.2, 0.2), (0.2, 0.01), (0.8, 0.01), (0.8, 0.8)])
@pytest.mark.parametrize(("places", "share"), [(16, 0.15), (64, 0.15), (4, 0.15), (16, 0.02)])
def test_stray_refusals_cost_little_more_than_their_own_wait(
    latency: float, refusal: float, places: int, share: float
) -> None:
    """They once cut 16 requests in flight to one per second."""
    for number in (200, 2000):
        ours, best = (
            Simulation(Limiter("bucket", 1e9), limits, False, True, places, share, latency, refusal)
            for limits in (RateLimits(), Unpaced())
        )
        assert ours.run(number) <= 1.3 * best.run(number)


@pytest.mark.parametrize(("places", "number"), [(16, 200), (16, 1000), (64, 2000)])
def test_stray_refusals_without_a_wait_cost_at_most_half_as_much_again(
    places: int, number: int
) -> None:
    """They once took 2.8 times the least time."""
    latency, share = 0.2, 0.15
    unlimited = Limiter("bucket", 1e9)
    limits = RateLimits()
    simulation = Simulation(unlimited, limits, False, False, places, share, latency, latency)
    assert simulation.run(number) <= 1.5 * math.ceil(number / (1 - share) / places) * latency


@pytest.mark.parametrize(("limit", "headers"), [(300, True), (3000, True), (3000, False)])
def test_stray_refusals_do_not_lower_a_known_limit(limit: int, headers: bool) -> None:
    limits = RateLimits(None if headers else limit)
    simulation = Simulation(Limiter("sliding", limit), limits, headers, True, stray=0.15)
    # A stray counts against the limit: 15 of 100 are sent twice.
    assert simulation.run(3 * limit) <= 1.5 * 180 / 0.85


def refuse(limits: RateLimits, number: int, after: float | None, now: float = 0.0) -> None:
    """Send so many at once, all refused within a hundredth of a second."""
    for _ in range(number):
        limits.sent(now, 1)
    for _ in range(number):
        limits.refused(now + 0.01, 1, after)


def test_a_single_refusal_delays_one_request_and_many_delay_all_once() -> None:
    limits = RateLimits()
    refuse(limits, 1, 5.0)
    assert limits.wait(0.2, 1) == 0
    refuse(limits, 20, 5.0)
    assert limits.wait(0.21, 1) == pytest.approx(4.8)
    limits = RateLimits(600)
    refuse(limits, 9, None)
    assert limits.wait(0.2, 1) == pytest.approx(0.81, abs=0.01)


def test_repeated_refusals_wait_longer_each_time() -> None:
    limits, now, waits = RateLimits(600), 0.0, []
    for number in (4, 1, 1, 1):
        refuse(limits, number, None, now)
        waits.append(round(limits.wait(now + 0.01, 1), 3))
        now += 0.01 + waits[-1]
        limits.wait(now, 1)
    assert waits == [1, 2, 4, 8]


def test_no_credit_left_waits_for_the_reset() -> None:
    limits = RateLimits(600)
    limits.learn(0.0, {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6s"})
    assert limits.wait(0.0, 1) == pytest.approx(6)


def test_tokens_a_minute_are_kept() -> None:
    limits, now, sent = RateLimits(None, 6000), 0.0, 0
    while now < 60:
        pause = limits.wait(now, 100)
        if pause:
            now += pause
        else:
            limits.sent(now, 100)
            sent += 1
    assert 0.95 * 60 <= sent <= 60


@pytest.mark.parametrize("limit", ["1", "1e-300", "0.001", "-3", "nan", "inf", "-inf"])
@pytest.mark.parametrize("name", ["requests", "tokens"])
def test_no_reported_limit_stops_the_stream_for_more_than_five_minutes(
    limit: str, name: str
) -> None:
    limits = RateLimits(60, 60_000)
    now = 0.0
    for _ in range(5):
        limits.sent(now, 5000)
        limits.ended(5000)
        limits.learn(now, {f"x-ratelimit-limit-{name}": limit})
        wait = limits.wait(now, 5000)
        assert wait < 300.001
        now += wait + 0.001
        assert limits.wait(now, 5000) == 0


def test_a_request_larger_than_the_burst_is_sent_when_the_bucket_is_full() -> None:
    meter = TokenBucket(1000)
    assert meter.wait(0.0, 900) == 0
    meter.take(0.0, 900)
    assert meter.wait(0.0, 900) == pytest.approx(900 / (0.97 * 1000 / 60))


def test_the_servers_count_of_tokens_overrides_ours() -> None:
    limits = RateLimits(None, 10_000)
    limits.wait(0.0, 9000)
    limits.sent(0.0, 9000)
    assert limits.wait(0.0, 150) > 50
    limits.ended(9000)
    limits.learn(0.0, {"x-ratelimit-remaining-tokens": "9900"})
    assert limits.wait(0.0, 150) == 0


def test_durations() -> None:
    times = {"1s": 1, "6m0s": 360, "120ms": 0.12, "1h2m3.5s": 3723.5, "7": 7, "0.25": 0.25}
    assert {text: duration(text) for text in times} == pytest.approx(times)
    assert {duration(text) for text in ("", "soon", "1x", "-1s")} == {None}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3),
        ({"retry-after-ms": "250", "retry-after": "3"}, 0.25),
        ({"retry-after": "Sat, 21 Nov 2026 00:00:00 GMT"}, None),
        ({"retry-after": "999999999"}, 300),
        ({"retry-after": "9" * 400}, 300),
        ({"retry-after-ms": "999999999"}, 300),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@pytest.mark.slow
@pytest.mark.parametrize(("headers", "configured"), [(True, None), (False, 3000)])
def test_in_real_time(headers: bool, configured: float | None) -> None:
    async def ask(url: str) -> tuple[float, int]:
        endpoint = Endpoint("m", url, "", concurrency=16, requests_per_minute=configured)
        requests = (ChatRequest(str(n), "", "text") for n in range(200))
        begin, answers = time.monotonic(), Online(endpoint, Models()).answers(requests)
        good = sum([isinstance(answer, ChatAnswer) async for _, answer in answers])
        return time.monotonic() - begin, good

    with ProviderServer(latency=0.05, limit=3000, limiter="sliding", headers=headers) as server:
        took, good = asyncio.run(ask(server.url))
        stats = server.stats()
    assert good == 200
    assert stats.get("status 429", 0) == 0
    assert 2.5 <= took <= 1.1 * 4 + 0.5


@given(st.lists(st.sampled_from([60.0, 120.0]), max_size=20))
def test_a_limit_that_is_reported_again_gives_nothing(limits: list[float]) -> None:
    bucket = TokenBucket()
    bucket.learn(0.0, 60.0)
    while not bucket.wait(0.0, 0.1):
        bucket.take(0.0, 0.1)
    for limit in limits:
        bucket.learn(0.0, limit)
    bucket.learn(0.0, 60.0)
    assert bucket.wait(0.0, 0.1) > 0
