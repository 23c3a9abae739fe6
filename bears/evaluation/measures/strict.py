"""strict@k, BEARS' measure for multi-hop questions."""

from bears.evaluation.judged_rankings import Floats, JudgedRankings
from bears.evaluation.metric import Metric


def strict(rankings: JudgedRankings, k: int | None) -> Floats:
    """1 if all relevant documents are in the top k, else 0.

    Hence 0 for every ranking of a question that has more relevant documents than k: what the best
    ranking would reach is reported as the ceiling. Without relevant documents 1 if nothing was
    returned, else 0.

    Source: BEARS, which scores its multi-hop questions so.
    """
    return rankings.right_if_empty(rankings.found.top(k).count() == rankings.relevant)


STRICT = Metric("strict", strict, yes_or_no=True)
