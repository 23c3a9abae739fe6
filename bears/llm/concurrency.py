"""Send many requests concurrently, until all are done or one shows that none can succeed."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from typing import ClassVar, Generic, TypeVar

from bears.files.shown import complain
from bears.llm.faults import (
    BudgetExhausted,
    ClientError,
    RequestFailed,
    RequestRefused,
    RunStopped,
    Unexplained,
)

FIRST, LATER = 5, 20
"""How many failures in a row end a run; and how many that may be of the requests, once the server
has answered others."""

R = TypeVar("R")
A = TypeVar("A")


class HeldFailures(Generic[R, A]):
    """Hold failures back until it is known whether the requests or the server caused them."""

    def __init__(self) -> None:
        self._held: list[tuple[R, ClientError]] = []
        self._heard, self._enough = False, FIRST

    @property
    def is_long(self) -> bool:
        """Return whether to send nothing more before an answer comes."""
        return len(self._held) >= self._enough

    def add(self, request: R, outcome: A | ClientError) -> list[tuple[R, A | ClientError]]:
        """Add an outcome and return the pairs that need not be held back any longer."""
        if not isinstance(outcome, RequestRefused | RequestFailed):
            self._heard = True
            return [*self._rest(), (request, outcome)]
        of_request = isinstance(outcome, RequestRefused | Unexplained)
        self._enough = LATER if self._heard and of_request else FIRST
        self._held.append((request, outcome))
        return []

    def ended(self) -> tuple[list[tuple[R, A | ClientError]], RunStopped | None]:
        """Return the remaining pairs when no more outcomes come, and why the run stops, if it does.

        If it stops, the server is to blame, and may accept the same requests another time.
        """
        if not self.is_long:
            return self._rest(), None
        count, error = len(self._held), self._held[-1][1]
        failed = [(request, RequestFailed(str(error))) for request, error in self._held]
        stop = RunStopped(f"{count} requests in a row failed, the last one: {error}")
        return [*failed], stop

    def _rest(self) -> list[tuple[R, A | ClientError]]:
        held, self._held = self._held, []
        return [*held]


QUIET_S = 60.0
"""After a reported wait, others that end within this time are not reported."""


class NotSent(Exception):
    """A request was not sent because the run has stopped."""


class RequestPool:
    """One call of `answers` of a client."""

    long_s: ClassVar[float] = 10.0
    """A longer wait is reported, and counts as an attempt if the server asked for it."""

    def __init__(self) -> None:
        self.answered = 0
        """How many requests the server has answered."""
        self._over = False
        self._quiet_until = 0.0
        self._stopped: RunStopped | None = None
        self._stop, self._news = asyncio.Event(), asyncio.Event()
        self._places = asyncio.Semaphore(0)

    async def outcomes(
        self, requests: Iterable[R], answer: Callable[[R], Awaitable[A]], concurrency: int
    ) -> AsyncIterator[tuple[R, A | ClientError]]:
        """Yield each request with its answer, or why it has none, as they come.

        A request is taken from ``requests`` when one of the ``concurrency`` places is free. After
        BudgetExhausted or RunStopped no more are taken, nor while `HeldFailures.is_long`.

        Raises:
            RunStopped: ``answer`` raised it, or too many in a row failed. Requests in flight finish
                and are yielded first; those that wait are not sent.
        """
        source, running = iter(requests), dict[asyncio.Task[A | ClientError | None], R]()
        self._places = asyncio.Semaphore(concurrency)
        failures = HeldFailures[R, A]()
        try:
            while True:
                while not (self._over or failures.is_long or self._places.locked()):
                    if (request := next(source, None)) is None:
                        break
                    await self._places.acquire()
                    running[asyncio.create_task(self._outcome(answer(request)))] = request
                    # Let this request go out before the next one is built.
                    await asyncio.sleep(0)
                if not running:
                    break
                await self._news.wait()
                self._news.clear()
                for task in [task for task in running if task.done()]:
                    request, outcome = running.pop(task), task.result()
                    self._places.release()
                    for pair in failures.add(request, outcome) if outcome is not None else ():
                        yield pair
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        failed, stop = failures.ended()
        for pair in failed:
            yield pair
        if stop := self._stopped or stop:
            raise stop

    async def _outcome(self, answer: Awaitable[A]) -> A | ClientError | None:
        """Return an answer, an error, or None if the request was not sent."""
        try:
            return await answer
        except NotSent:
            return None
        except RunStopped as stopped:
            self._over, self._stopped = True, self._stopped or stopped
            self._stop.set()
            return None
        except ClientError as error:
            self._over = self._over or isinstance(error, BudgetExhausted)
            return error
        finally:
            self._news.set()

    async def rest(self, seconds: float) -> None:
        """Wait as `pause` does, and let another request use the place meanwhile."""
        self._places.release()
        self._news.set()
        await self.pause(seconds)
        await self._places.acquire()

    async def pause(self, seconds: float) -> None:
        """Wait before a request is sent. Raises NotSent if the run has stopped."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        if self._stop.is_set():
            raise NotSent

    def report(self, seconds: float, reason: str) -> None:
        """Report a long wait, once for all requests that wait at the same time."""
        end = time.monotonic() + seconds
        if seconds > self.long_s and end > self._quiet_until:
            self._quiet_until = end + QUIET_S
            complain(f"waiting {seconds:.0f} s before the next request: {reason}")
