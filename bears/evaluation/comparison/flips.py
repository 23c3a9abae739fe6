"""The questions that one system answers and the other does not."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bears.evaluation.comparison.values import Measured
from bears.files.records import read_questions
from bears.files.trec import read_table
from bears.types import Question, Ranking

TOP, BESIDE = 3, 1
"""How many documents to show from the top, and on each side of a gold document."""


def flips(systems: Sequence[Measured], measure: str) -> list[dict[str, Any]]:
    """Return, for each pair, the questions on which one system scores 0 and the other does not.

    For exactly two systems, add the question, its gold and both rankings around the gold, if their
    files are here.
    """
    pairs = [_flips_of(a, b, measure) for a, b in combinations(systems, 2)]
    queries = next((system.queries for system in systems if system.queries), None)
    if len(systems) == 2 and queries:
        questions = {question.question_id: question for question in read_questions(queries)}
        _add_rankings(systems, pairs[0], questions)
    return pairs


def _flips_of(a: Measured, b: Measured, measure: str) -> dict[str, Any]:
    ours, theirs = a.values[measure], b.values[measure]
    return {
        "measure": measure,
        "a": a.name,
        "b": b.name,
        "only_a": [{"question_id": q} for q in ours.index[(ours > 0) & (theirs == 0)]],
        "only_b": [{"question_id": q} for q in ours.index[(ours == 0) & (theirs > 0)]],
    }


def _add_rankings(
    systems: Sequence[Measured], flip: Mapping[str, Any], questions: Mapping[str, Question]
) -> None:
    runs = {
        side: read_table(system.run, questions).rankings()
        for side, system in zip("ab", systems, strict=True)
        if system.run
    }
    for entry in (*flip["only_a"], *flip["only_b"]):
        question = questions[entry["question_id"]]
        entry |= {"question": question.question, "gold": list(question.gold_doc_ids)}
        for side, run in runs.items():
            entry[f"ranking_{side}"] = _around_gold(run.get(question.question_id, ()), question)


def _around_gold(ranking: Ranking, question: Question) -> list[dict[str, Any]]:
    """Return the first documents, and those next to each gold document."""
    gold = [hit.doc_id in question.gold_doc_ids for hit in ranking]
    places = [i for i, is_gold in enumerate(gold) if is_gold]
    shown = {*range(TOP), *(i + d for i in places for d in range(-BESIDE, BESIDE + 1))}
    return [
        {"rank": i + 1, "doc_id": hit.doc_id, "gold": gold[i]}
        for i, hit in enumerate(ranking)
        if i in shown
    ]
