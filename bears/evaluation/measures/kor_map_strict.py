"""kor_map_strict, the Korean science task's score without its holes."""

import numpy as np

from bears.evaluation.judged_rankings import Floats, JudgedRankings
from bears.evaluation.metric import Metric

DEPTH = 3


def kor_map_strict(rankings: JudgedRankings, k: int | None) -> Floats:
    """Sum of the precision at each relevant document of the top 3 / min(3, relevant documents).

    A ranking has a document once, every question of the benchmark counts once, and one that was
    not answered scores 0; one of two gold documents in the first place scores 1/2, and three of
    more than three score 1. Without gold 1 if nothing was returned, else 0. ``k`` is None: the
    top 3 is part of the definition.

    Source: ours, beside ``kor_map_official``.
    """
    del k
    hits = rankings.found.top(DEPTH)
    wanted = np.clip(rankings.relevant, 1, DEPTH)
    return rankings.right_if_empty(hits.total(hits.nth / hits.rank) / wanted)


KOR_MAP_STRICT = Metric("kor_map_strict", kor_map_strict, cutoff=False, whole=True)
