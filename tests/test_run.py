"""Workers take turns, and none sends after the run has stopped."""

from __future__ import annotations

import asyncio

import pytest

from bears.client.errors import RunStopped
from bears.client.run import GivenUp, Run, Turns


def test_a_request_goes_out_before_the_next_worker_has_its_turn() -> None:
    told = []

    async def worker(turns: Turns, name: str) -> None:
        await turns.take()
        told.append(f"{name} prepares")
        # As aiohttp does: the write is a task of its own.
        asyncio.get_running_loop().call_soon(told.append, f"{name} is sent")

    async def together() -> None:
        turns = Turns()
        workers = [asyncio.create_task(worker(turns, name)) for name in "abc"]
        await asyncio.sleep(0)
        await turns.quiet()
        told.append("answers are read")
        await asyncio.gather(*workers)

    asyncio.run(together())
    order = [f"{name} {what}" for name in "abc" for what in ("prepares", "is sent")]
    assert told == [*order, "answers are read"]


def test_who_is_cancelled_in_the_line_leaves_it() -> None:
    async def together() -> None:
        turns = Turns()
        await turns.take()
        waiting = asyncio.create_task(turns.take())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait_for(turns.quiet(), 5)
        await asyncio.wait_for(turns.take(), 5)

    asyncio.run(together())


def test_who_waits_when_the_run_stops_gives_up_and_who_is_cancelled_does_not() -> None:
    ended = []

    async def wait(run: Run) -> None:
        try:
            with run.waiting():
                await asyncio.sleep(60)
        except GivenUp:
            ended.append("given up")
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def together() -> None:
        run = Run(iter(()), asyncio.Queue())
        alone, both, stopped = (asyncio.create_task(wait(run)) for _ in range(3))
        await asyncio.sleep(0)
        alone.cancel()
        await asyncio.sleep(0)
        both.cancel()
        run.stop(RunStopped("no such key"))
        await asyncio.gather(alone, both, stopped, return_exceptions=True)
        with pytest.raises(GivenUp), run.waiting():
            pass

    asyncio.run(together())
    assert ended == ["cancelled", "cancelled", "given up"]
