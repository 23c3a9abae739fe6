"""span_success@k."""

from bears.evaluation.metric import Floats, Metric, SpanRankings


def span_success(spans: SpanRankings, k: int | None) -> Floats:
    """Return 1 if any of the top k chunks has a character of a gold span, else 0.

    Without k, as many chunks count as touch a gold span, and with ``@4000c`` the best ones that
    fit into 4,000 characters. Undefined without a gold span.

    Source: BEARS, after the measures of Smith and Troynikov 2024.
    """
    return spans.defined(spans.total(spans.touches, k).clip(max=1))


SPAN_SUCCESS = Metric(
    "span_success", span_success, whole=True, yes_or_no=True, gains_by_rank=False, reads="spans"
)
