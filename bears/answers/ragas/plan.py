"""What scoring would ask and cost, as far as is known before it is asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bears.answers.ragas.rows import RagasRow
from bears.llm.models import Price, estimate
from bears.llm.proxy import Forwarded, Proxy

STRICTNESS = 3
"""Questions that answer relevancy has a model make of an answer."""


@dataclass(frozen=True, slots=True)
class RagasPlan:
    """An estimate; ranges are (least, most).

    Args:
        calls: chat requests that are missing, those included whose words depend on others.
        texts: whose vectors are missing.
        replayed: requests that the memory answers.
        usd: the price. An answer that cannot be read is asked for again, which is not counted.
    """

    calls: int
    texts: int
    replayed: int
    usd: tuple[float, float]


def planned(rows: Sequence[RagasRow], proxy: Proxy, chat: Price, embeddings: Price) -> RagasPlan:
    """What is missing after a replay.

    Faithfulness asks twice, answer relevancy `STRICTNESS` times (and once more for each vector, and
    for the question's), context precision once a context and context recall once; but how long
    those requests are is only known of the first that were missed.

    Args:
        rows: that were replayed.
        proxy: what the replay used and missed.
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
