"""R-precision."""

from __future__ import annotations

from collections.abc import Sequence


def r_precision(grades: Sequence[int], judged: Sequence[int], k: int | None) -> float | None:
    """Precision at R, R the number of relevant documents. None without relevant documents.

    ``k`` cuts the ranking before it is measured, and is there so that all measures are called
    alike; R divides whatever k is.

    Source: trec_eval ``Rprec``.
    """
    if not judged:
        return None
    return sum(grade > 0 for grade in grades[:k][: len(judged)]) / len(judged)
