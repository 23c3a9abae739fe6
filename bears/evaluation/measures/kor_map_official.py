"""kor_map_official: the official score of the Korean science task, with all its flaws."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from bears.errors import FormatError
from bears.evaluation.metric import Floats, JudgedRankings, Metric, judged_rankings

DEPTH = 3


def kor_map_official(rankings: JudgedRankings, k: int | None) -> Floats:
    """Average the precision at each relevant document of the top 3 over these documents.

    So one of two gold documents in the first place scores 1. Without gold, 1 if nothing was
    returned, else 0. In a run, each question of the benchmark counts as one prediction, which is
    empty if the run lacks the question. `official_score` scores a submission as it is: a missing
    row costs nothing and a repeated one counts twice. ``k`` is None: the top 3 is part of the
    definition.

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
    predictions: Sequence[tuple[str, Sequence[str]]], gold: Mapping[str, Collection[str]]
) -> float:
    """Return the task's score of a submission, equal to the official program's to the last bit.

    Args:
        predictions: the rows: a question's id and its ``topk``. A row may repeat a question, and a
            ``topk`` a document; each repetition counts.
        gold: question to its documents; empty if nothing should be retrieved. A string in place
            of a collection matches every document whose id is a substring of it.

    Raises:
        FormatError: there is no row, or a row's question is not in the gold. The official program
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
    # The official program sums in the order of the rows; fsum would round differently.
    return float(np.cumsum(values)[-1]) / len(predictions)
