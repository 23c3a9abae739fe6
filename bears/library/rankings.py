"""Rankings as people have them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from itertools import pairwise
from numbers import Real
from typing import Any

from bears.errors import FormatError
from bears.types import Hit, Question, Ranking, Run, document_of

Found = Iterable[str] | Iterable[tuple[str, float]] | Mapping[str, float]
"""A ranking: ids, best first; pairs of id and score, best first; or id to score."""
Rankings = Mapping[str, Found] | Callable[[str], Found]
"""Rankings by question_id, or a function from a question's text to a ranking."""


def run_of(rankings: Rankings, questions: Sequence[Question], documents: Collection[str]) -> Run:
    """Return the rankings as a run.

    Args:
        rankings: in any of the forms above.
        questions: the benchmark's, which a function is called with one after another.
        documents: the ids of the pool.

    Raises:
        FormatError: a question or a document is unknown, or a ranking has another form.
    """
    if callable(rankings):
        found = {each.question_id: rankings(each.question) for each in questions}
    elif isinstance(rankings, Mapping):
        found = dict(rankings)
    else:
        raise FormatError(
            f"run is {rankings!r:.80}; expected question_id to ranking, a function from a "
            "question's text to a ranking, or the path of a TREC run file"
        )
    known = {each.question_id for each in questions}
    if unknown := [key for key in found if key not in known]:
        raise FormatError(
            f"{unknown[0]!r:.80} is not a question_id of this benchmark; take the ids from "
            "benchmark.questions, or give a function from a question's text to a ranking"
        )
    run = {key: _ranking(key, ranking) for key, ranking in found.items()}
    for key, ranking in run.items():
        ids = (hit.doc_id for hit in ranking)
        if strange := [i for i in ids if i not in documents and document_of(i) not in documents]:
            raise FormatError(
                f"question {key!r}: {strange[0]!r:.80} is not the id of a document of this "
                "benchmark; rank documents by the ids that benchmark.documents has"
            )
    return run


def _ranking(key: str, found: Any) -> Ranking:
    if isinstance(found, Mapping):
        return tuple(_hit(key, pair) for pair in found.items())
    if isinstance(found, str | Set) or not isinstance(found, Iterable):
        raise _no_ranking(key, found)
    listed = list(found)
    if all(isinstance(each, str) for each in listed):
        return tuple(Hit(doc_id, -float(place)) for place, doc_id in enumerate(listed))
    hits = tuple(_hit(key, pair) for pair in listed)
    for before, after in pairwise(hits):
        # Distances come so, and would be read as the worst ranking there is.
        if after.score > before.score:
            raise FormatError(
                f"question {key!r}: the score rises from {before.score} to {after.score} at "
                f"{after.doc_id!r:.80}; list the best document first, with the highest score "
                "(negate distances), or give a mapping of id to score"
            )
    return hits


def _hit(key: str, pair: Any) -> Hit:
    match pair:
        case (str(doc_id), Real() as score) if not isinstance(score, bool):
            return Hit(doc_id, float(score))
    raise _no_ranking(key, pair)


def _no_ranking(key: str, found: Any) -> FormatError:
    return FormatError(
        f"question {key!r}: {found!r:.80} does not belong in a ranking; expected a list of "
        "document ids, a list of pairs (id, score), or a mapping of id to score"
    )
