"""mrr@k; the mean is taken elsewhere, here is the reciprocal rank of each question."""

from __future__ import annotations

from bears.evaluation.places import Floats, Results, share


def reciprocal_rank(results: Results, k: int | None) -> Floats:
    """1 / rank of the first relevant document in the top k, 0 if none is there.

    Undefined without relevant documents.

    Source: trec_eval ``recip_rank``; the cutoff as in the MS MARCO task (MRR@10).
    """
    first = results.found.top(k)
    first = first.where(first.nth == 1)
    return share(first.total(1 / first.rank), results.relevant > 0)
