"""retrieval_accuracy@k, in percent, as in PandaChat's table."""

from collections.abc import Collection, Sequence

import numpy as np

from bears.evaluation.measures.success import success
from bears.evaluation.metric import Floats, JudgedRankings, Metric, judged_rankings


def retrieval_accuracy(rankings: JudgedRankings, k: int | None) -> Floats:
    """Return 100 if a relevant document is among the first k sources as submitted, else 0.

    The sources are the documents of the chunks that were retrieved: each chunk takes a place, so a
    document may take several, as in a submitted list (see `correct_retrievals`). Without relevant
    documents, 100 if nothing was returned, else 0.

    Source: PandaChat-RAG-sl, ``correct_retrieval_per``.
    """
    return 100 * success(rankings, k)


RETRIEVAL_ACCURACY = Metric("retrieval_accuracy", retrieval_accuracy, reads="sources", best=100)


def correct_retrievals(
    sources: Sequence[Sequence[str]], gold: Sequence[Collection[str]], k: int
) -> int:
    """Count the questions with a gold document among the first ``k`` sources, repeats included.

    The accuracy is ``100 * count / len(gold)``.

    Args:
        sources: for each question, the submitted list, or an empty one.
        gold: for each question, its gold documents.
        k: how many entries of a list count.
    """
    grades = [
        [int(source in wanted) for source in row] for row, wanted in zip(sources, gold, strict=True)
    ]
    judged = [[1] * len(wanted) for wanted in gold]
    return int(np.sum(success(judged_rankings(grades, judged), k)))
