"""mrr@k; the mean is taken elsewhere, here is the reciprocal rank of one question."""

from __future__ import annotations

from collections.abc import Sequence


def reciprocal_rank(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """1 / rank of the first relevant document in the top k, 0 if none is there.

    None without relevant documents.

    Source: trec_eval ``recip_rank``; the cutoff as in the MS MARCO task (MRR@10).
    """
    if not judged:
        return None
    for rank, grade in enumerate(grades[:k], start=1):
        if grade > 0:
            return 1 / rank
    return 0.0
