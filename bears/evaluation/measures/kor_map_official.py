"""kor_map_official, the score of the Korean science task with all its holes."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bears.errors import FormatError
from bears.evaluation.judged_rankings import Floats, JudgedRankings, judged_rankings
from bears.evaluation.metric import Metric

DEPTH = 3


def kor_map_official(rankings: JudgedRankings, k: int | None) -> Floats:
    """Sum of the precision at each relevant document of the top 3 / number of these documents.

    So one of two gold documents in the first place scores 1. Without gold 1 if nothing was
    returned, else 0. Of a run each question of the benchmark counts as one prediction, an empty
    one where the run lacks it. `official_score` scores a submission as it is, where a row that
    is left out costs nothing and a repeated one counts twice. ``k`` is None: the top 3 is part of
    the definition.

    Source: ``calc_map`` of the Korean science question answering task.
    """
    del k
    hits = rankings.found.top(DEPTH)
    scores = hits.total(hits.nth / hits.rank) / np.maximum(hits.count(), 1)
    return rankings.right_if_empty(scores)


KOR_MAP_OFFICIAL = Metric(
    "kor_map_official", kor_map_official, cutoff=False, whole=True, gains_by_rank=False
)


def official_score(
    predictions: Sequence[tuple[str, Sequence[str]]],
    gold: Mapping[str, Collection[str]],
) -> float:
    """The task's score of a submission, to the last bit of the official program's.

    Args:
        predictions: the rows: a question's id and its ``topk``. Rows may repeat a question, and a
            ``topk`` a document: each counts as if it were another one.
        gold: question to its documents, none where nothing should be retrieved. A text in place
            of a collection matches every document whose id is a part of it.

    Raises:
        FormatError: there is no row, or a row's question is not in the gold; the official program
            ends with a ZeroDivisionError or a KeyError.
    """
    if not predictions:
        raise FormatError("the submission has no rows, so its score is undefined")
    if unknown := [question_id for question_id, _ in predictions if question_id not in gold]:
        raise FormatError(f"question {unknown[0]!r} is not in the gold")
    wanted = [gold[question_id] for question_id, _ in predictions]
    grades = [
        [int(doc_id in relevant) for doc_id in topk]
        for (_, topk), relevant in zip(predictions, wanted, strict=True)
    ]
    values = kor_map_official(judged_rankings(grades, [[1] * bool(w) for w in wanted]), None)
    # The official program adds up in the order of the rows; fsum would round better, and otherwise.
    return float(np.cumsum(values)[-1]) / len(predictions)
