"""What the workers of one run share: the requests, the answers, whose turn it is, and the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from bears.client.errors import ClientError, RunStopped
from bears.client.wire import ChatAnswer, ChatRequest

Outcome = ChatAnswer | ClientError


class GivenUp(Exception):
    """A request was not sent, or not again, because the run has stopped."""


class Turns:
    """One worker at a time reads its answer and sends its next request.

    When many answers arrive at once, an event loop takes the first step of every worker, then the
    second, and the first request goes out when the last one does. In turns it goes out at once.
    """

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._wanted = 0

    async def take(self) -> None:
        """Wait for one's turn. It lasts until what is done without waiting has taken effect."""
        self._wanted += 1
        try:
            await self._lock.acquire()
        except BaseException:
            self._wanted -= 1
            raise
        # Called before the write that a request schedules, so the next turn begins after it.
        asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        self._wanted -= 1
        self._lock.release()

    async def quiet(self) -> None:
        """Wait until nobody wants a turn, and what was to be sent is sent."""
        await asyncio.sleep(0)
        while self._wanted:
            await asyncio.sleep(0)


@dataclass(slots=True)
class Run:
    """One call of `Online.answers`.

    Args:
        source: the requests; one is taken when a worker is free.
        done: what the workers have finished; None from each worker that ends.
        over: whether no more requests are taken.
        stopped: why none can be answered.
    """

    source: Iterator[ChatRequest]
    done: asyncio.Queue[tuple[ChatRequest, Outcome] | None]
    over: bool = False
    stopped: RunStopped | None = None
    turns: Turns = field(default_factory=Turns)
    _waiting: set[asyncio.Task[None]] = field(default_factory=set)

    def stop(self, reason: RunStopped) -> None:
        """Take no more requests, and send none of those that wait."""
        self.over = True
        self.stopped = self.stopped or reason
        for task in self._waiting:
            task.cancel()

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Within, a worker waits before it sends.

        Raises:
            GivenUp: the run has stopped.
        """
        if self.stopped is not None:
            raise GivenUp
        task = asyncio.current_task()
        assert task is not None
        self._waiting.add(task)
        try:
            yield
        except asyncio.CancelledError:
            # One of the cancellations is ours, if the run has stopped.
            if self.stopped is None or task.uncancel() > 0:
                raise
            raise GivenUp from None
        finally:
            self._waiting.discard(task)

    async def finished(self, workers: int) -> AsyncIterator[tuple[ChatRequest, Outcome]]:
        """Yield what is done until so many workers have ended, when nothing is to be sent.

        What the caller does with an answer takes a millisecond or so, and a request that is
        ready should not wait for it.
        """
        while workers:
            outcome = await self.done.get()
            if outcome is None:
                workers -= 1
            else:
                await self.turns.quiet()
                yield outcome
