"""Which documents people should judge: TREC's pooling (Spärck Jones and van Rijsbergen 1975)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256

from bears.types import Run


def pooled(
    runs: Iterable[Run], depth: int, judged: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """The documents that some run has among its first ones, and nobody has judged.

    Args:
        runs: of the systems.
        depth: how many documents of each ranking are taken.
        judged: of each question that is asked about, the documents that are judged already.

    Returns:
        question_id to doc_ids, in an order that is always the same and tells nothing of systems
        and ranks.
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
