"""success@k: BEARS' "hit rate"."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric


def success(rankings: JudgedRankings, k: int | None) -> Floats:
    """Return 1 if any relevant document is in the top k, else 0.

    Without relevant documents, 1 if nothing was returned, else 0; trec_eval scores 0 in both cases.

    Source: trec_eval ``success``; BEARS calls it hit rate.
    """
    return rankings.right_if_empty(rankings.found.top(k).count() > 0)


SUCCESS = Metric("success", success, yes_or_no=True, foreign=("Success",))
