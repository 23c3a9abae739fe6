"""map@k; the mean is taken elsewhere, here is the average precision of each question."""

from bears.evaluation.judged_rankings import Floats, JudgedRankings, share
from bears.evaluation.metric import Metric


def average_precision(rankings: JudgedRankings, k: int | None) -> Floats:
    """Sum of the precision at each relevant document of the top k / all relevant documents.

    The divisor is all relevant documents of the question, also when they are more than k, so
    that the best value can be below 1. Undefined without relevant documents.

    Source: trec_eval ``map`` and ``map_cut``. Others divide by the hits, or by min(k, relevant).
    """
    hits = rankings.found.top(k)
    return share(hits.total(hits.nth / hits.rank), rankings.relevant)


AVERAGE_PRECISION = Metric("map", average_precision, whole=True)
