"""Requests are sent concurrently, and none after the run has stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from bears.llm.faults import ClientError, RequestRefused, RunStopped
from bears.llm.pool import RequestPool

Outcomes = list[tuple[str, str | ClientError]]


def ask(
    run: RequestPool,
    names: Iterable[str],
    answer: Callable[[str], Awaitable[str]],
    concurrency: int = 2,
) -> tuple[Outcomes, RunStopped | None]:
    """Return the outcomes, and why the run stopped."""
    got: Outcomes = []

    async def collect() -> None:
        async for pair in run.outcomes(names, answer, concurrency):
            got.append(pair)

    try:
        asyncio.run(asyncio.wait_for(collect(), 10))
    except RunStopped as stopped:
        return got, stopped
    return got, None


def test_each_has_its_answer_or_its_error() -> None:
    refused = RequestRefused("not b")

    async def answer(name: str) -> str:
        await asyncio.sleep(0)
        if name == "b":
            raise refused
        return name.upper()

    got, stopped = ask(RequestPool(), "abc", answer)
    assert sorted(got, key=lambda pair: pair[0]) == [("a", "A"), ("b", refused), ("c", "C")]
    assert stopped is None


def test_when_the_run_stops_requests_in_flight_finish_and_waiting_ones_are_not_sent() -> None:
    run, sent = RequestPool(), []
    begun = asyncio.Event()

    async def answer(name: str) -> str:
        if name == "stops":
            await begun.wait()
            raise RunStopped("no such key")
        if name == "waits":
            begun.set()
            await run.pause(60)
        if name == "tries again":
            await begun.wait()
            await asyncio.sleep(0.05)
            await run.pause(0)
        sent.append(name)
        await asyncio.sleep(0.1)
        return name

    names = ["in flight", "waits", "tries again", "stops", "never taken"]
    got, stopped = ask(run, names, answer, concurrency=4)
    assert got == [("in flight", "in flight")]
    assert sent == ["in flight"]
    assert str(stopped) == "no such key"


def test_nothing_runs_after_the_caller_stops_reading() -> None:
    ended = []

    async def answer(name: str) -> str:
        if name == "quick":
            return name
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(name)
        return name

    async def read_one() -> None:
        outcomes = RequestPool().outcomes(["slow", "quick", "slow too"], answer, 3)
        async for _ in outcomes:
            break
        await outcomes.aclose()  # type: ignore[attr-defined]

    asyncio.run(read_one())
    assert sorted(ended) == ["slow", "slow too"]
