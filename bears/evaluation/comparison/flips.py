"""The questions that one system has and the other lacks."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from bears.evaluation.comparison.values import Measured
from bears.files.records import read_questions
from bears.files.trec import read_table
from bears.types import Question, Ranking

TOP, BESIDE = 3, 1
"""Documents that are shown from the top, and on each side of one that is gold."""


def flips(systems: Sequence[Measured], measure: str) -> list[dict[str, Any]]:
    """For each pair the questions on which one scores 0 and the other does not.

    Of two systems whose rankings are here, also the question, its gold, and both rankings around
    the gold; of more, the ids alone.
    """
    found = [_of_pair(a, b, measure) for a, b in combinations(systems, 2)]
    if len(systems) == 2:
        _show(systems, found[0])
    return found


def _of_pair(a: Measured, b: Measured, measure: str) -> dict[str, Any]:
    has, other = a.values[measure], b.values[measure]
    return {
        "measure": measure,
        "a": a.name,
        "b": b.name,
        "only_a": [{"question_id": q} for q in has.index[(has > 0) & (other == 0)]],
        "only_b": [{"question_id": q} for q in has.index[(has == 0) & (other > 0)]],
    }


def _show(systems: Sequence[Measured], flip: Mapping[str, Any]) -> None:
    path = next((system.queries for system in systems if system.queries), None)
    if path is None:
        return
    questions = {question.question_id: question for question in read_questions(path)}
    runs = {
        side: read_table(system.run, questions).rankings()
        for side, system in zip("ab", systems, strict=True)
        if system.run
    }
    for entry in (*flip["only_a"], *flip["only_b"]):
        question = questions[entry["question_id"]]
        entry |= {"question": question.question, "gold": list(question.gold_doc_ids)}
        for side, run in runs.items():
            entry[f"ranking_{side}"] = _around(run.get(question.question_id, ()), question)


def _around(ranking: Ranking, question: Question) -> list[dict[str, Any]]:
    """The first documents, and those about each gold document."""
    gold = set(question.gold_doc_ids)
    places = [i for i, hit in enumerate(ranking) if hit.doc_id in gold]
    shown = {*range(TOP), *(i + d for i in places for d in range(-BESIDE, BESIDE + 1))}
    return [
        {"rank": i + 1, "doc_id": hit.doc_id, "gold": hit.doc_id in gold}
        for i, hit in enumerate(ranking)
        if i in shown
    ]
