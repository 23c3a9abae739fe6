"""What filling would cost, before anything is asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from bears.client.models import Price, estimate
from bears.client.wire import ChatRequest
from bears.translation.memory import Request
from bears.translation.work import Resolution

# A translation has about as many tokens as its source, the least and the most in practice.
SHORTEST, LONGEST = 0.7, 2.0


@dataclass(frozen=True)
class Plan:
    """An estimate; ranges are (lowest, highest).

    Args:
        calls: by field; a text that a gate refuses is asked for again and is not counted.
        in_memory: texts that are there already.
        input_tokens, output_tokens: over all calls.
        usd: price of all calls.
    """

    calls: dict[str, int]
    in_memory: int
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    usd: tuple[float, float]


def plan(
    resolution: Resolution,
    ask: Callable[[Request, list[str]], ChatRequest],
    price: Price,
) -> Plan:
    """Estimate what filling the missing texts costs.

    Args:
        resolution: the benchmark resolved against what is known.
        ask: request to what would be sent.
        price: of the backend.
    """
    wanted = [*resolution.missing, *resolution.waiting]
    inputs = [estimate(chat.system + chat.user) for chat in (ask(r, []) for r in wanted)]
    outputs = [estimate(request.text) for request in wanted]
    low = (sum(n for n, _ in inputs), round(SHORTEST * sum(n for n, _ in outputs)))
    high = (sum(n for _, n in inputs), round(LONGEST * sum(n for _, n in outputs)))
    calls = Counter[str](request.field for request in wanted)
    return Plan(
        calls=dict(sorted(calls.items())),
        in_memory=len(resolution.used),
        input_tokens=(low[0], high[0]),
        output_tokens=(low[1], high[1]),
        usd=(price.of(*low), price.of(*high)),
    )
