"""success@k, BEARS' "hit rate"."""

from __future__ import annotations

from collections.abc import Sequence


def success(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """1 if any relevant document is in the top k, else 0. None without relevant documents.

    Source: trec_eval ``success``; BEARS calls it hit rate.
    """
    if not judged:
        return None
    return float(any(grade > 0 for grade in grades[:k]))
