"""Asking again for as long as that can help, and paying for each attempt what it may have cost."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from bears.client.budget import Bounded, Budget
from bears.client.endpoint import Endpoint
from bears.client.errors import RequestFailed
from bears.client.post import Again, Lost
from bears.client.request_pool import RequestPool

LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts."""


class Charged(Protocol):
    """An answer, as far as a budget looks at it."""

    @property
    def input_tokens(self) -> int:
        """As charged for the request."""

    @property
    def output_tokens(self) -> int:
        """As charged for the answer."""


A = TypeVar("A", bound=Charged)


async def answered(
    run: RequestPool,
    endpoint: Endpoint,
    budget: Budget,
    request: Bounded,
    attempt: Callable[[], Awaitable[A]],
) -> A:
    """The answer of the first attempt that has one.

    Args:
        run: on whose behalf; once it has stopped nothing is sent again.
        endpoint: with its attempts and backoff.
        budget: what pays for each attempt.
        attempt: raises `Again` or `Lost` where another may succeed.

    Raises:
        RequestFailed: no attempt was answered.
        BudgetExhausted: the next one does not fit.
        NotSent: the run stopped in a pause.
    """
    failed = limited = 0
    while True:
        try:
            return await _paid(budget, budget.bound(request), attempt)
        except Again as again:
            failed, limited = failed + (not again.limited), limited + again.limited
            if failed >= endpoint.attempts or failed + limited >= endpoint.attempts * PATIENCE:
                raise RequestFailed(
                    f"no answer after {failed + limited} attempts, the last one: {again}"
                ) from None
            if again.limited:
                pause = _backoff(endpoint, limited) if again.after is None else again.after
                await run.rest(pause)
            else:
                await run.pause(max(again.after or 0.0, _backoff(endpoint, failed)))


def _backoff(endpoint: Endpoint, failed: int) -> float:
    """Twice as long each time, and never the same for two that failed together."""
    first = endpoint.backoff_s
    return min(LONGEST_WAIT, first * 2.0 ** (failed - 1) + random.uniform(0, first))


async def _paid(budget: Budget, amount: float, attempt: Callable[[], Awaitable[A]]) -> A:
    await budget.reserve(amount)
    try:
        answer = await attempt()
    except (Lost, asyncio.CancelledError):
        await budget.forfeit(amount)
        raise
    except BaseException:
        await budget.release(amount)
        raise
    await budget.settle(amount, answer.input_tokens, answer.output_tokens)
    return answer
