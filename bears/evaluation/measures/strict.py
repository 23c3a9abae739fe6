"""strict@k, BEARS' measure for multi-hop questions."""

from __future__ import annotations

from bears.evaluation.places import Floats, Results


def strict(results: Results, k: int | None) -> Floats:
    """1 if all relevant documents are in the top k, else 0.

    Hence 0 for every ranking of a question that has more relevant documents than k: what the best
    ranking would reach is reported as the ceiling. Without relevant documents 1 if nothing was
    returned, else 0.

    Source: BEARS, which scores its multi-hop questions so.
    """
    return results.right_if_empty(results.found.top(k).count() == results.relevant)
