"""strict@k: BEARS' measure for multi-hop questions."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric


def strict(rankings: JudgedRankings, k: int | None) -> Floats:
    """Return 1 if all relevant documents are in the top k, else 0.

    So every ranking of a question with more relevant documents than k scores 0; the mean of the
    best rankings is reported as the ceiling. Without relevant documents, 1 if nothing was returned,
    else 0.

    Source: BEARS, for its multi-hop questions.
    """
    return rankings.right_if_empty(rankings.found.top(k).count() == rankings.relevant)


STRICT = Metric("strict", strict, yes_or_no=True)
