"""Recall at each depth, with the band that the number of questions leaves."""

import math
from collections.abc import Mapping, Sequence

from bears.intervals import share_interval
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
    points = []
    for k in DEPTHS if places else ():
        if k <= max(deepest, 1):
            shares = [sum(1 for at in each if at and at <= k) / len(each) for each in places]
            points.append((k, math.fsum(shares) / len(shares), *share_interval(shares)))
    return points


def gold_places(ranking: Ranking, question: Question) -> list[int | None]:
    """At which place, from 1, each gold document stands; None where it is not in the ranking."""
    place = {hit.doc_id: at for at, hit in enumerate(ranking, start=1)}
    return [place.get(doc_id) for doc_id in question.gold_doc_ids]
