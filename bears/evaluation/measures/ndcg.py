"""ndcg@k: normalised discounted cumulative gain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence


def ndcg(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """Gain of the top k / gain of the best top k that the judgements allow.

    The gain is the grade itself (not 2^grade - 1), divided by log2(rank + 1); the best ranking
    is made of all judged documents, found or not, and is cut at k too. None without relevant
    documents.

    Source: trec_eval ``ndcg`` and ``ndcg_cut``, after Järvelin and Kekäläinen (TOIS 2002), with
    the discount from rank 1 on.
    """
    if not judged:
        return None
    return _gain(grades[:k]) / _gain(sorted(judged, reverse=True)[:k])


def _gain(grades: Iterable[int]) -> float:
    return sum(
        grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1) if grade > 0
    )
