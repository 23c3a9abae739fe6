"""Asking again for as long as that can help, and paying for each attempt what it may have cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import tenacity

from bears.client.budget import Budget, Sized
from bears.client.endpoint import Access, Endpoint
from bears.client.errors import RequestFailed, RequestRefused, RunStopped
from bears.client.limits import Clock
from bears.client.post import Lost
from bears.client.run import Run
from bears.client.wire import Problem

LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts."""


class Charged(Protocol):
    """An answer whose tokens are known."""

    @property
    def input_tokens(self) -> int:
        """Tokens of what was asked."""
        ...

    @property
    def output_tokens(self) -> int:
        """Tokens of what was answered."""
        ...


A = TypeVar("A")
C = TypeVar("C", bound=Charged)


class Again(Exception):
    """An attempt failed in a way that may pass."""

    def __init__(self, reason: str, after: float | None = None, limited: bool = False) -> None:
        super().__init__(reason)
        self.after, self.limited = after, limited


class Retries:
    """How often, and after which pauses, a request is sent to an endpoint.

    Args:
        endpoint: with its attempts and backoff.
        clock: what waits.
    """

    def __init__(self, endpoint: Endpoint, clock: Clock) -> None:
        self._endpoint, self._clock = endpoint, clock

    async def __call__(self, run: Run, once: Callable[[], Awaitable[A]]) -> A:
        """The answer of the first attempt that has one.

        Args:
            run: on whose behalf; once it has stopped nothing is sent again.
            once: one attempt; raises `Again` where another may succeed.

        Raises:
            RequestFailed: no attempt was answered.
            GivenUp: the run stopped in a pause.
        """
        failures: list[Again] = []

        async def pause(seconds: float) -> None:
            with run.waiting():
                await self._clock.sleep(seconds)

        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception_type(Again),
            wait=self._pause,
            stop=lambda _: self._enough(failures),
            sleep=pause,
            reraise=True,
        )

        async def counted() -> A:
            try:
                return await once()
            except Again as again:
                failures.append(again)
                raise

        try:
            return await retrying(counted)
        except Again as again:
            raise RequestFailed(
                f"no answer after {len(failures)} attempts, the last one: {again}"
            ) from None

    def _enough(self, failures: list[Again]) -> bool:
        counted = sum(not failure.limited for failure in failures)
        attempts = self._endpoint.attempts
        return counted >= attempts or len(failures) >= attempts * PATIENCE

    def _pause(self, state: tenacity.RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        assert isinstance(failure, Again)
        if failure.limited:
            return 0.0  # The gate holds back everything for as long as it takes.
        first = self._endpoint.backoff_s
        wait = tenacity.wait_exponential_jitter(multiplier=first, max=LONGEST_WAIT, jitter=first)
        return max(failure.after or 0.0, wait(state))


async def paid(budget: Budget, request: Sized, ask: Callable[[], Awaitable[C]]) -> C:
    """One attempt within the budget.

    Raises:
        BudgetExhausted: it does not fit.
        Again: the answer was lost, and may have to be paid for all the same.
    """
    amount = await budget.reserve(request)
    try:
        answer = await ask()
    except (Lost, asyncio.CancelledError) as lost:
        await budget.forfeit(amount)
        if isinstance(lost, Lost):
            raise Again(str(lost)) from None
        raise
    except BaseException:
        await budget.release(amount)
        raise
    await budget.settle(amount, answer.input_tokens, answer.output_tokens)
    return answer


def error_of(
    problem: Problem, after: float | None, access: Access, endpoint: Endpoint
) -> Exception:
    """What a refusal means for the request, or for the whole run.

    Args:
        problem: what the server said.
        after: seconds that it asks to wait.
        access: whose key no message may hold.
        endpoint: whose settings a message may name.
    """
    told = access.clean(str(problem))
    if problem.passes:
        return Again(told, after, limited=problem.status == 429)
    if problem.stops:
        remedy = _remedy(problem, endpoint.where)
        return RunStopped(f"{access.base_url} answers {told}. {remedy}")
    return RequestRefused(f"{access.base_url} answers {told}")


def _remedy(problem: Problem, where: str) -> str:
    if problem.status in (401, 403):
        return "Look at the key, and at what it may use"
    if problem.status == 404:
        return f"Look at {where}.model and {where}.base_url"
    return "The account has no credit left"
