"""Estimate the requests and the price of scoring."""

from collections import Counter
from collections.abc import Sequence

from bears.answers.ragas.rows import RagasRow
from bears.answers.ragas.run import Evaluated
from bears.llm.models import Price, estimate

STRICTNESS = 3
"""How many questions answer relevancy generates from an answer."""


def planned(
    rows: Sequence[RagasRow], replay: Evaluated, chat: Price, embeddings: Price
) -> tuple[int, int, tuple[float, float]]:
    """Estimate what is missing after a replay.

    Faithfulness sends two requests, answer relevancy `STRICTNESS` and two for vectors (of the
    question, and of the generated ones), context precision one per context, and context recall one.
    The length is known only for the first missing requests.

    Args:
        rows: the replayed rows.
        replay: has the requests with a kept reply, and those without one.

    Returns:
        How many chat requests and requests for vectors are missing, including those that depend on
        the replies to others, and the least and the most dollars that they cost.
    """
    used = Counter(entry.field for entry in replay.used.values())
    missed = [each for each in replay.missed.values() if each.field == "chat"]
    asked = sum((2 if row.contexts else 0) + STRICTNESS for row in rows if row.answer) + sum(
        len(row.contexts) + 1 for row in rows if row.contexts and row.ground_truth
    )
    calls = max(asked - used["chat"], len(missed)) if missed else 0
    wanted = sum(2 for row in rows if row.answer) if replay.missed else 0
    vectors = max(wanted - used["embeddings"], len(replay.missed) - len(missed))
    sizes = [estimate(each.text) for each in missed] or [(0, 0)]
    low, high = (sum(bounds) / len(sizes) for bounds in zip(*sizes, strict=True))
    longest = max((each.most_tokens for each in missed), default=0)
    question = max((estimate(row.question + row.answer)[1] for row in rows), default=0)
    least = chat.of(round(calls * low), 0)
    most = chat.of(round(calls * high), calls * longest)
    most += embeddings.of(vectors * STRICTNESS * question, 0)
    return calls, vectors, (least, most)
