"""success@k, BEARS' "hit rate"."""

from __future__ import annotations

from bears.evaluation.places import Floats, Results


def success(results: Results, k: int | None) -> Floats:
    """1 if any relevant document is in the top k, else 0.

    Without relevant documents 1 if nothing was returned, else 0; trec_eval gives 0 to either.

    Source: trec_eval ``success``; BEARS calls it hit rate.
    """
    return results.right_if_empty(results.found.top(k).count() > 0)
