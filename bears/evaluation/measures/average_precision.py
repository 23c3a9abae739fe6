"""map@k; the mean is taken elsewhere, here is the average precision of one question."""

from __future__ import annotations

from collections.abc import Sequence


def average_precision(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """Sum of the precision at each relevant document of the top k / all relevant documents.

    The divisor is all relevant documents of the question, also when they are more than k, so
    that the best value can be below 1. None without relevant documents.

    Source: trec_eval ``map`` and ``map_cut``. Others divide by the hits, or by min(k, relevant).
    """
    if not judged:
        return None
    hits, total = 0, 0.0
    for rank, grade in enumerate(grades[:k], start=1):
        if grade > 0:
            hits += 1
            total += hits / rank
    return total / len(judged)
