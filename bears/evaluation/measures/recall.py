"""recall@k."""

from __future__ import annotations

from bears.evaluation.places import Floats, Results, share


def recall(results: Results, k: int | None) -> Floats:
    """Relevant documents in the top k / relevant documents.

    With more relevant documents than k the best value is below 1. Undefined without relevant
    documents.

    Source: trec_eval ``recall``.
    """
    return share(results.found.top(k).count(), results.relevant)
