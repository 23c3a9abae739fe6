"""Choose documents for people to judge: TREC's pooling (Spärck Jones and van Rijsbergen 1975)."""

from collections.abc import Callable, Collection, Iterable, Mapping
from hashlib import sha256

from bears.types import ChunkRun


def pooled(
    runs: Iterable[ChunkRun], depth: int, judged: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the unjudged chunks among the first ones of any run.

    Args:
        runs: of the systems.
        depth: how many chunks to take from each ranking.
        judged: question_id to the names of the chunks that are already judged. Other questions
            are ignored.

    Returns:
        question_id to names of chunks, in a fixed order that reveals neither systems nor ranks.
    """
    found: dict[str, set[str]] = {question_id: set() for question_id in judged}
    for run in runs:
        for question_id in found.keys() & run.keys():
            found[question_id].update(hit.chunk.name for hit in run[question_id][:depth])
    return {
        question_id: sorted(names.difference(judged[question_id]), key=_shuffled(question_id))
        for question_id, names in found.items()
    }


def _shuffled(question_id: str) -> Callable[[str], bytes]:
    return lambda name: sha256(f"{question_id}\0{name}".encode()).digest()
