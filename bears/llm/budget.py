"""A limit on the cost of a run that holds no matter how long the replies turn out to be."""

import asyncio

from bears.llm.faults import BudgetExhausted


class Budget:
    """Reserve the most that a request can cost, then settle the actual cost.

    Args:
        limit_usd: the most US dollars to spend; None: no limit.
        where: the configuration key that has the limit, for messages.
    """

    def __init__(self, limit_usd: float | None, where: str = "translator") -> None:
        self.limit, self._where = limit_usd, where
        self.spent = 0.0
        """The cost of the replies, including lost ones that the provider may charge."""
        self.reserved = 0.0
        """The most that the requests in flight can cost."""
        self._in_flight = 0
        self._change = asyncio.Condition()

    async def reserve(self, amount: float) -> None:
        """Set ``amount`` dollars aside, and wait for other requests to settle if needed.

        Raises:
            BudgetExhausted: it does not fit, and no request in flight can free any of the budget.
        """
        async with self._change:
            # A billionth of a dollar is the rounding error of sums.
            while (
                self.limit is not None and self.spent + self.reserved + amount > self.limit + 1e-9
            ):
                if not self._in_flight:
                    raise BudgetExhausted(
                        f"the budget of {self.limit} USD is used up: {self.spent:.4f} USD are "
                        f"spent, and the next request may cost {amount:.4f} USD. The replies so "
                        f"far are kept; raise {self._where}.budget to continue"
                    )
                await self._change.wait()
            self.reserved += amount
            self._in_flight += 1

    async def settle(self, amount: float, cost: float) -> None:
        """Replace a reserved amount by the actual cost.

        It is the whole amount for a reply that is lost, which may be charged, and nothing for a
        request that the provider refused.
        """
        self.spent += cost
        self.reserved -= amount
        self._in_flight -= 1
        if not self._in_flight:
            # Adding and subtracting floats leaves rounding errors.
            self.reserved = 0.0
        async with self._change:
            self._change.notify_all()
