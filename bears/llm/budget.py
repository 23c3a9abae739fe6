"""A limit on the cost of a run that holds no matter how long the replies turn out to be."""

import asyncio

from bears.llm.embedding import EmbeddingRequest
from bears.llm.faults import BudgetExhausted
from bears.llm.models import Price
from bears.llm.wire import ChatRequest


class Budget:
    """Reserve the most that a request can cost, then settle the actual cost.

    Args:
        limit_usd: the most US dollars to spend; None: no limit.
        price: the price of tokens.
        where: the configuration key that has the limit, for messages.
    """

    def __init__(self, limit_usd: float | None, price: Price, where: str = "translator") -> None:
        self.limit, self.price, self._where = limit_usd, price, where
        self.spent = 0.0
        """The cost of the replies, including lost ones that the provider may charge."""
        self.reserved = 0.0
        """The most that the requests in flight can cost."""
        self._in_flight = 0
        self._change = asyncio.Condition()

    def bound(self, request: ChatRequest | EmbeddingRequest) -> float:
        """Return the most that ``request`` can cost."""
        return self.price.of(request.most_input_tokens(), request.max_output_tokens)

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

    async def settle(self, amount: float, input_tokens: int, output_tokens: int) -> None:
        """Replace a reserved amount by the actual cost of the reply."""
        self.spent += self.price.of(input_tokens, output_tokens)
        await self.release(amount)

    async def forfeit(self, amount: float) -> None:
        """Count a reserved amount as spent: the reply is lost, but may be charged."""
        self.spent += amount
        await self.release(amount)

    async def release(self, amount: float) -> None:
        """Free a reserved amount: the provider refused the request and charges nothing."""
        self.reserved -= amount
        self._in_flight -= 1
        if not self._in_flight:
            # Adding and subtracting floats leaves rounding errors.
            self.reserved = 0.0
        async with self._change:
            self._change.notify_all()
