"""precision@k."""

import numpy as np

from bears.evaluation.judged_rankings import Floats, JudgedRankings, share
from bears.evaluation.metric import Metric


def precision(rankings: JudgedRankings, k: int | None) -> Floats:
    """Relevant documents in the top k / k.

    A ranking shorter than k is still divided by k. Without k the number of ranked documents
    divides, and an empty ranking scores 0. Undefined without relevant documents.

    Source: trec_eval ``P``, and ``set_P`` for the whole ranking. trec_eval gives 0, and does not
    leave out, a question whose judged documents are all irrelevant.
    """
    divisor = np.maximum(rankings.returned, 1) if k is None else k
    return share(rankings.found.top(k).count(), (rankings.relevant > 0) * divisor)


PRECISION = Metric("precision", precision)
