"""kor_map_strict: the score of the Korean science task, without its flaws."""

import numpy as np

from bears.evaluation.metric import Floats, JudgedRankings, Metric

DEPTH = 3


def kor_map_strict(rankings: JudgedRankings, k: int | None) -> Floats:
    """Sum the precision at each relevant document of the top 3, and divide by min(3, relevant).

    A ranking has a document once, every question of the benchmark counts once, and an unanswered
    question scores 0. One of two gold documents in the first place scores 1/2, and three of more
    than three score 1. Without gold, 1 if nothing was returned, else 0. ``k`` is None: the top 3
    is part of the definition.

    Source: ours, beside ``kor_map_official``.
    """
    del k
    hits = rankings.found.top(DEPTH)
    wanted = np.clip(rankings.relevant, 1, DEPTH)
    return rankings.right_if_empty(hits.total(hits.nth / hits.rank) / wanted)


KOR_MAP_STRICT = Metric("kor_map_strict", kor_map_strict, cutoff=False, whole=True)
