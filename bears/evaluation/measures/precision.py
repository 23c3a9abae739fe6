"""precision@k."""

from __future__ import annotations

from collections.abc import Sequence


def precision(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """Relevant documents in the top k / k. None without relevant documents.

    A ranking shorter than k is still divided by k. Without k the number of ranked documents
    divides, and an empty ranking scores 0.

    Source: trec_eval ``P``, and ``set_P`` for the whole ranking. trec_eval gives 0, not None, to
    a question without relevant documents.
    """
    if not judged:
        return None
    divisor = len(grades) if k is None else k
    return sum(grade > 0 for grade in grades[:k]) / divisor if divisor else 0.0
