"""span_precision@k."""

from bears.evaluation.metric import Floats, Metric, SpanRankings


def span_precision(spans: SpanRankings, k: int | None) -> Floats:
    """Divide the characters of gold spans in the top k chunks by the characters of these chunks.

    Characters that two chunks share count twice in the divisor. Without k, as many chunks count
    as touch a gold span, and with ``@4000c`` the best ones that fit into 4,000 characters.
    Undefined without a gold span; 0 if nothing was returned.

    Source: Smith and Troynikov 2024, whose program takes as many chunks as touch a gold span.
    """
    returned = spans.total(spans.size, k).clip(1)
    return spans.defined(spans.total(spans.covers, k) / returned)


SPAN_PRECISION = Metric(
    "span_precision", span_precision, whole=True, gains_by_rank=False, reads="spans"
)
