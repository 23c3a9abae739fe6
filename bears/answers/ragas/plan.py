"""Estimate the requests and the price of scoring."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bears.answers.ragas.rows import RagasRow
from bears.llm.models import Price, estimate
from bears.llm.proxy import Forwarded, Proxy

STRICTNESS = 3
"""How many questions answer relevancy generates from an answer."""


@dataclass(frozen=True, slots=True)
class RagasPlan:
    """An estimate; ranges are (least, most).

    Args:
        calls: missing chat requests, including those that depend on the replies to others.
        texts: how many texts have no vectors yet.
        replayed: requests with a kept reply.
        usd: the price, without repeated requests after replies that cannot be read.
    """

    calls: int
    texts: int
    replayed: int
    usd: tuple[float, float]


def planned(rows: Sequence[RagasRow], proxy: Proxy, chat: Price, embeddings: Price) -> RagasPlan:
    """Estimate what is missing after a replay.

    Faithfulness sends two requests, answer relevancy `STRICTNESS` (and one per vector, plus that of
    the question), context precision one per context, and context recall one. The length is known
    only for the first missing requests.

    Args:
        rows: the replayed rows.
        proxy: has the requests that the replay used and missed.
    """
    used = [entry.field for entry in proxy.used.values()]
    asked = sum((2 if row.contexts else 0) + STRICTNESS for row in rows if row.answer) + sum(
        len(row.contexts) + 1 for row in rows if row.contexts and row.ground_truth
    )
    vectors = sum(1 + STRICTNESS for row in rows if row.answer)
    missed = [each for each in proxy.missed.values() if isinstance(each, Forwarded)]
    calls = max(asked - used.count("chat"), len(missed)) if missed else 0
    texts = max(vectors - used.count("embedding"), len(proxy.missed) - len(missed))
    if not proxy.missed:
        calls = texts = 0
    low, high = _mean(estimate(each.words) for each in missed)
    longest = max((each.max_output_tokens for each in missed), default=0)
    question = max((estimate(row.question + row.answer)[1] for row in rows), default=0)
    least = chat.of(round(calls * low), 0)
    most = chat.of(round(calls * high), calls * longest) + embeddings.of(texts * question, 0)
    return RagasPlan(calls, texts, len(used), (least, most))


def _mean(ranges: Iterable[tuple[int, int]]) -> tuple[float, float]:
    lows, highs = zip(*(list(ranges) or [(0, 0)]), strict=True)
    return sum(lows) / len(lows), sum(highs) / len(highs)
