"""span_recall@k, and span_recall@Nc."""

from bears.evaluation.metric import Floats, Metric, SpanRankings


def span_recall(spans: SpanRankings, k: int | None) -> Floats:
    """Divide the characters of gold spans in the top k chunks by those of all gold spans.

    Without k, as many chunks count as touch a gold span. ``@4000c`` in place of ``@k`` takes the
    best chunks whose lengths together fit into 4,000 characters, the last one cut: chunkings of any
    length then show a reader the same amount. Undefined without a gold span.

    Source: Smith and Troynikov 2024, "Evaluating Chunking Strategies for Retrieval". Their program
    takes five chunks.
    """
    return spans.defined(spans.total(spans.covers, k) / spans.gold.clip(1))


SPAN_RECALL = Metric("span_recall", span_recall, whole=True, gains_by_rank=False, reads="spans")
