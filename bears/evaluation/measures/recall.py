"""recall@k."""

from bears.evaluation.judged_rankings import Floats, JudgedRankings, share
from bears.evaluation.metric import Metric


def recall(rankings: JudgedRankings, k: int | None) -> Floats:
    """Relevant documents in the top k / relevant documents.

    With more relevant documents than k the best value is below 1. Undefined without relevant
    documents.

    Source: trec_eval ``recall``.
    """
    return share(rankings.found.top(k).count(), rankings.relevant)


RECALL = Metric("recall", recall)
