"""A cap on what a run may cost that holds whatever the answers turn out to be."""

import asyncio
from typing import Protocol

from bears.llm.faults import BudgetExhausted
from bears.llm.models import Price


class Bounded(Protocol):
    """A request, as far as a budget looks at it."""

    @property
    def max_output_tokens(self) -> int:
        """The most tokens that its answer may have."""

    def most_input_tokens(self) -> int:
        """More tokens than it can have itself."""


class Budget:
    """Reserve the most that a request can cost, then settle what it did cost.

    Args:
        limit_usd: what may be spent; None: as much as it takes.
        price: what tokens cost.
        where: the key of the configuration that has the limit, for messages.
    """

    def __init__(self, limit_usd: float | None, price: Price, where: str = "translator") -> None:
        self.limit, self.price, self._where = limit_usd, price, where
        self.spent = 0.0
        """What the answers cost, and what lost ones may have cost."""
        self.presumed = 0.0
        """The part of `spent` whose answers never came, though the provider may charge them."""
        self.reserved = 0.0
        """The most that the requests in flight can cost."""
        self._in_flight = 0
        self._change = asyncio.Condition()

    @property
    def left(self) -> float | None:
        """What is neither spent nor reserved; None without a limit."""
        return None if self.limit is None else self.limit - self.spent - self.reserved

    def bound(self, request: Bounded) -> float:
        """The most that ``request`` can cost."""
        return self.price.of(request.most_input_tokens(), request.max_output_tokens)

    def fits(self, amount: float) -> bool:
        """Whether ``amount`` can be reserved now."""
        # A billionth of a dollar is the rounding of sums, not money.
        return self.left is None or amount <= self.left + 1e-9

    async def reserve(self, amount: float) -> None:
        """Set ``amount`` dollars aside, waiting for others to settle if need be.

        Raises:
            BudgetExhausted: it does not fit, and nothing in flight can give anything back.
        """
        if self.fits(amount):
            self.hold(amount)
            return
        async with self._change:
            while not self.fits(amount):
                if not self._in_flight:
                    raise self.exhausted(amount)
                await self._change.wait()
            self.hold(amount)

    def hold(self, amount: float) -> None:
        """Reserve without asking whether it fits: for what is at the provider already."""
        self.reserved += amount
        self._in_flight += 1

    async def settle(self, amount: float, input_tokens: int, output_tokens: int) -> None:
        """The answer is here: what it cost takes the place of what was set aside."""
        self.spent += self.price.of(input_tokens, output_tokens)
        await self.release(amount)

    async def forfeit(self, amount: float) -> None:
        """The answer is lost, and the provider may charge it: all that was set aside is gone."""
        self.spent += amount
        self.presumed += amount
        await self.release(amount)

    async def release(self, amount: float) -> None:
        """The provider refused the request and charges nothing."""
        self.reserved -= amount
        self._in_flight -= 1
        if not self._in_flight:
            # Adding and taking away floats leaves crumbs.
            self.reserved = 0.0
        async with self._change:
            self._change.notify_all()

    def exhausted(self, amount: float) -> BudgetExhausted:
        """The error for a request of at most ``amount`` dollars."""
        return BudgetExhausted(
            f"the budget of {self.limit} USD is used up: {self.spent:.4f} USD are spent, and the "
            f"next request may cost {amount:.4f} USD. What is answered is kept; "
            f"raise {self._where}.budget to go on"
        )
