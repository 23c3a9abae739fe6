"""mrr@k: the reciprocal rank of each question, whose mean is taken elsewhere."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric, share


def reciprocal_rank(rankings: JudgedRankings, k: int | None) -> Floats:
    """Return 1 / rank of the first relevant document in the top k, or 0 without one.

    Undefined without relevant documents.

    Source: trec_eval ``recip_rank``; the cutoff as in the MS MARCO task (MRR@10).
    """
    first = rankings.found.top(k)
    first = first.where(first.nth == 1)
    return share(first.total(1 / first.rank), rankings.relevant > 0)


RECIPROCAL_RANK = Metric("mrr", reciprocal_rank, whole=True, foreign=("RR", "MRR"))
