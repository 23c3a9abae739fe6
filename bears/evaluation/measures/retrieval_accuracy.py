"""retrieval_accuracy@k, in percent, as in PandaChat's table."""

from bears.evaluation.measures.success import success
from bears.evaluation.metric import Floats, JudgedRankings, Metric


def retrieval_accuracy(rankings: JudgedRankings, k: int | None) -> Floats:
    """Return 100 if a relevant document is among the first k sources as submitted, else 0.

    The sources are the documents of the chunks that were retrieved: each chunk takes a place, so a
    document may take several, as in a submitted list. Without relevant documents, 100 if nothing
    was returned, else 0.

    Source: PandaChat-RAG-sl, ``correct_retrieval_per``.
    """
    return 100 * success(rankings, k)


RETRIEVAL_ACCURACY = Metric("retrieval_accuracy", retrieval_accuracy, reads="sources", best=100)
