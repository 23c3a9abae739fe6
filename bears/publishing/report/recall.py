"""Recall at each depth, with the band that the number of questions leaves."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bears.evaluation.bootstrap import mean_intervals
from bears.types import Question, Ranking

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)


def recall_curve(
    rankings: Mapping[str, Ranking], questions: Sequence[Question]
) -> list[tuple[int, float, float, float]]:
    """(k, mean recall@k, low, high) of the questions that have gold; low to high holds 95 %."""
    places = [
        gold_places(rankings.get(question.question_id, ()), question)
        for question in questions
        if question.gold_doc_ids
    ]
    deepest = max((len(ranking) for ranking in rankings.values()), default=0)
    depths = [k for k in DEPTHS if places and k <= max(deepest, 1)]
    if not depths:
        return []
    shares = np.array(
        [[sum(1 for at in each if at and at <= k) / len(each) for k in depths] for each in places]
    )
    means = (math.fsum(column) / len(column) for column in shares.T.tolist())
    ends = mean_intervals(shares)
    return [(k, mean, *each) for k, mean, each in zip(depths, means, ends, strict=True)]


def gold_places(ranking: Ranking, question: Question) -> list[int | None]:
    """At which place, from 1, each gold document stands; None where it is not in the ranking."""
    place = {hit.doc_id: at for at, hit in enumerate(ranking, start=1)}
    return [place.get(doc_id) for doc_id in question.gold_doc_ids]
