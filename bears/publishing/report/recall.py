"""Recall at each depth, with the band that the number of questions leaves."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bears.evaluation.bootstrap import mean_intervals
from bears.evaluation.evaluate import evaluate, gold_of
from bears.evaluation.measure import parse_measure
from bears.types import Question, Ranking

DEPTHS = (1, 2, 3, 5, 10, 20, 50, 100)


def recall_curve(
    rankings: Mapping[str, Ranking], questions: Sequence[Question]
) -> list[tuple[int, float, float, float]]:
    """Return (k, mean recall@k, low, high) over the questions with gold; low to high holds 95 %."""
    deepest = max(map(len, rankings.values()), default=1)
    depths = [k for k in DEPTHS if k <= max(deepest, 1)]
    measures = [parse_measure(f"recall@{k}") for k in depths]
    values = evaluate(rankings, gold_of(questions), measures).values
    shares = np.column_stack(list(values.values()))
    shares = shares[~np.isnan(shares[:, 0])]
    if not len(shares):
        return []
    means = (math.fsum(column) / len(column) for column in shares.T.tolist())
    ends = mean_intervals(shares)
    return [(k, mean, *each) for k, mean, each in zip(depths, means, ends, strict=True)]


def gold_places(ranking: Ranking, question: Question) -> list[int | None]:
    """At which place, from 1, each gold document stands; None where it is not in the ranking."""
    place = {hit.doc_id: at for at, hit in enumerate(ranking, start=1)}
    return [place.get(doc_id) for doc_id in question.gold_doc_ids]
