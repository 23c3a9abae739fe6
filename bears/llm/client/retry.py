"""Asking again for as long as that can help, and paying for each attempt what it may have cost."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from bears.llm.client.budget import Bounded, Budget
from bears.llm.client.endpoint import Endpoint
from bears.llm.client.errors import RequestFailed, RunStopped
from bears.llm.client.post import Again, Lost, Unavailable, Unreachable
from bears.llm.client.request_pool import RequestPool

LONGEST_WAIT = 60.0
PATIENCE = 10
"""How many refusals with 429 a request bears for each of its attempts, if they ask for no long
wait."""
LIMITED = 0.1
"""The part of the first wait after a 429 that names none. `RateLimits` holds back all where many
are refused, so this one need not wait for a server that is too busy."""
UNHEARD = 3
"""Attempts to reach a server that has answered nothing yet: a wrong address stays one."""


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
        RunStopped: nor was any other request's since the first one, as the server serves nobody.
        BudgetExhausted: the next one does not fit.
        NotSent: the run stopped in a pause.
    """
    failed = limited = 0
    before = run.answered
    while True:
        try:
            answer = await _paid(budget, budget.bound(request), attempt)
            run.answered += 1
            return answer
        except Again as again:
            # Waiting long for a server that is closed must end some time.
            free = again.limited and (again.after or 0.0) <= run.long_s
            failed, limited = failed + (not free), limited + free
            unheard = isinstance(again, Unreachable) and not run.answered
            attempts = min(endpoint.attempts, UNHEARD) if unheard else endpoint.attempts
            if failed >= attempts or failed + limited >= attempts * PATIENCE:
                told = f"no answer after {failed + limited} attempts, the last one: {again}"
                if isinstance(again, Unavailable) and run.answered == before:
                    raise RunStopped(f"{told}. {again.remedy}") from None
                raise RequestFailed(told) from None
            if again.limited:
                first = endpoint.backoff_s * LIMITED
                wait = backoff(first, limited) if again.after is None else again.after
                await run.rest(wait, str(again))
            else:
                wait = max(again.after or 0.0, backoff(endpoint.backoff_s, failed))
                await run.pause(wait, str(again))


def backoff(first: float, failed: int) -> float:
    """Seconds to wait: twice as long each time, never the same for two that failed together."""
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
