"""span_iou@k."""

from bears.evaluation.metric import Floats, Metric, SpanRankings


def span_iou(spans: SpanRankings, k: int | None) -> Floats:
    """Divide the gold characters in the top k chunks by those of the chunks and the missed gold.

    Characters that two chunks share count twice in the divisor. Without k, as many chunks count
    as touch a gold span, and with ``@4000c`` the best ones that fit into 4,000 characters.
    Undefined without a gold span.

    Source: Smith and Troynikov 2024 (intersection over union), whose program takes as many chunks
    as touch a gold span.
    """
    covered = spans.total(spans.covers, k)
    both = spans.total(spans.size, k) + spans.gold - covered
    return spans.defined(covered / both.clip(1))


SPAN_IOU = Metric("span_iou", span_iou, whole=True, gains_by_rank=False, reads="spans")
