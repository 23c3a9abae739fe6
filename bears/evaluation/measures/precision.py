"""precision@k."""

import numpy as np

from bears.evaluation.metric import Floats, JudgedRankings, Metric, share


def precision(rankings: JudgedRankings, k: int | None) -> Floats:
    """Divide the number of relevant documents in the top k by k.

    The divisor is k also for a shorter ranking. Without k, it is the number of ranked documents,
    and an empty ranking scores 0. Undefined without relevant documents.

    Source: trec_eval ``P``, and ``set_P`` for the whole ranking. trec_eval scores 0 if all judged
    documents of a question are irrelevant.
    """
    divisor = np.maximum(rankings.returned, 1) if k is None else k
    return share(rankings.found.top(k).count(), (rankings.relevant > 0) * divisor)


PRECISION = Metric("precision", precision, foreign=("P", "Precision"))
