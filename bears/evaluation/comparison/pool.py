"""Choose documents for people to judge: TREC's pooling (Spärck Jones and van Rijsbergen 1975)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256

from bears.types import Run


def pooled(
    runs: Iterable[Run], depth: int, judged: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the unjudged documents among the first ones of any run.

    Args:
        runs: of the systems.
        depth: how many documents to take from each ranking.
        judged: question_id to the documents that are already judged. Other questions are ignored.

    Returns:
        question_id to doc_ids, in a fixed order that reveals neither systems nor ranks.
    """
    found: dict[str, set[str]] = {question_id: set() for question_id in judged}
    for run in runs:
        for question_id in found.keys() & run.keys():
            found[question_id].update(hit.doc_id for hit in run[question_id][:depth])
    return {
        question_id: sorted(doc_ids.difference(judged[question_id]), key=_shuffled(question_id))
        for question_id, doc_ids in found.items()
    }


def _shuffled(question_id: str) -> Callable[[str], bytes]:
    return lambda doc_id: sha256(f"{question_id}\0{doc_id}".encode()).digest()
