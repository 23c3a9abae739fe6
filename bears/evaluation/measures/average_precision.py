"""map@k: the average precision of each question, whose mean is taken elsewhere."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric, share


def average_precision(rankings: JudgedRankings, k: int | None) -> Floats:
    """Sum the precision at each relevant document of the top k, and divide by all relevant ones.

    The divisor counts all relevant documents, also if there are more than k, so the best value can
    be below 1. Undefined without relevant documents.

    Source: trec_eval ``map`` and ``map_cut``. Others divide by the hits, or by min(k, relevant).
    """
    hits = rankings.found.top(k)
    return share(hits.total(hits.nth / hits.rank), rankings.relevant)


AVERAGE_PRECISION = Metric("map", average_precision, whole=True, foreign=("AP", "MAP"))
