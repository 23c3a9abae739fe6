"""ndcg@k: normalized discounted cumulative gain."""

import math

import numpy as np

from bears.evaluation.metric import Floats, JudgedRankings, Metric, RelevantRanks, share


def ndcg(rankings: JudgedRankings, k: int | None) -> Floats:
    """Divide the gain of the top k by that of the best top k that the judgements allow.

    The gain is the grade itself (not 2^grade - 1), divided by log2(rank + 1). The best ranking
    has all judged documents, found or not, and is cut at k too. Undefined without relevant
    documents.

    Source: trec_eval ``ndcg`` and ``ndcg_cut``, after Järvelin and Kekäläinen (TOIS 2002), with
    the discount from rank 1 on.
    """
    return share(_gain(rankings.found.top(k)), _gain(rankings.ideal.top(k)))


NDCG = Metric("ndcg", ndcg, whole=True, graded=True, foreign=("nDCG", "NDCG"))


def _gain(places: RelevantRanks) -> Floats:
    # NumPy's own log2 rounds differently on other processors.
    deepest = int(places.rank.max(initial=0))
    discounts = np.array([math.inf, *(math.log2(rank + 1) for rank in range(1, deepest + 1))])
    return places.total(places.grade / discounts[places.rank])
