"""strict@k, BEARS' measure for multi-hop questions."""

from __future__ import annotations

from collections.abc import Sequence


def strict(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """1 if all relevant documents are in the top k, else 0. None without relevant documents.

    Hence 0 for every ranking of a question that has more relevant documents than k.

    Source: BEARS, which scores its multi-hop questions so.
    """
    if not judged:
        return None
    return float(sum(grade > 0 for grade in grades[:k]) == len(judged))
