"""R-precision."""

from bears.evaluation.metric import Floats, JudgedRankings, Metric, share


def r_precision(rankings: JudgedRankings, k: int | None) -> Floats:
    """Divide the relevant documents in the top R by R, the number of relevant documents.

    ``k`` cuts the ranking first, so that all measures have the same signature; the divisor is R
    for any k. Undefined without relevant documents.

    Source: trec_eval ``Rprec``.
    """
    relevant = rankings.relevant
    found = rankings.found.top(k)
    return share(found.where(found.rank <= relevant[found.question]).count(), relevant)


R_PRECISION = Metric(
    "r_precision", r_precision, cutoff=False, whole=True, foreign=("Rprec", "RPrec")
)
