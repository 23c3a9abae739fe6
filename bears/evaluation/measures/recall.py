"""recall@k."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric, share


def recall(rankings: JudgedRankings, k: int | None) -> Floats:
    """Divide the number of relevant documents in the top k by that of all relevant documents.

    If there are more relevant documents than k, the best value is below 1. Undefined without
    relevant documents.

    Source: trec_eval ``recall``.
    """
    return share(rankings.found.top(k).count(), rankings.relevant)


RECALL = Metric("recall", recall, foreign=("R", "Recall"))
