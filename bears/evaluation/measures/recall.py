"""recall@k."""

from __future__ import annotations

from collections.abc import Sequence


def recall(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """Relevant documents in the top k / relevant documents. None without relevant documents.

    Source: trec_eval ``recall``.
    """
    if not judged:
        return None
    return sum(grade > 0 for grade in grades[:k]) / len(judged)
