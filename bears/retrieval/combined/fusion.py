"""Reciprocal rank fusion (Cormack, Clarke and Büttcher 2009)."""

from collections.abc import Sequence

import numpy as np

from bears.retrieval.ranking import best
from bears.types import Ranking


def reciprocal_ranks(rankings: Sequence[Ranking], k: int, constant: int) -> Ranking:
    """Return the ``k`` best documents by the sum of 1 / (``constant`` + rank), rank from 1.

    Ties are broken by descending doc_id, as everywhere. Fused scores tie often, since two
    documents that swap their ranks get the same sum.

    Args:
        rankings: of the same question, each already in the order of our tie rule.
        k: how many documents.
        constant: 60 in the paper. Qdrant counts ranks from 0, so its k=61 is the paper's 60.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.doc_id] = scores.get(hit.doc_id, 0.0) + 1 / (constant + rank)
    return best(np.array(list(scores.values())), list(scores), k)
