"""The protocols of vector stores: keep vectors, and find the nearest ones."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

from bears.retrieval.cut import Cut
from bears.retrieval.models.encoder import CALLED, Vectors
from bears.types import Ranking

UNCUT = Cut(CALLED["document"], 0)


@dataclass(frozen=True, slots=True)
class Shard:
    """Chunks of documents with their vectors: the unit of storing and of resuming.

    Args:
        number: from 0, without gaps; the same chunks have the same number in every run.
        doc_ids: of each chunk; see `bears.retrieval.chunking.chunks`.
        groups: `Document.group` of each chunk.
        texts: of each chunk.
        vectors: shape (chunks, dimensions), length 1 each.
        cut: how much of the texts is not in their vectors.
    """

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    cut: Cut = UNCUT


class VectorSearcher(Protocol):
    """An open store."""

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """Return for each vector the ``k`` chunks of highest cosine.

        Args:
            vectors: of the questions, shape (questions, dimensions), length 1 each.
            k: how many chunks.
            groups: for each vector, the only group to search; empty: all chunks.
        """

    def exactness(self, vectors: Vectors, k: int) -> Mapping[str, object]:
        """Return how exact the search is, as plain JSON values.

        Args:
            vectors: of the questions, shape (questions, dimensions).
            k: how many documents per question.

        Returns:
            ``{"exact": True}``, or ``exact`` False with ``recall``: the mean share of the exact
            ``k`` documents that the approximate search finds.
        """


class VectorStore(Protocol):
    """Makes a store of vectors and opens it again. The constructor only takes settings."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Store every shard; ``folder`` holds the store, or what is needed to find it again.

        A store that survives a killed run (a server) may skip what it already has.

        Raises:
            StoreError: the store cannot be reached, or cannot take the shards.
        """

    def open(self, folder: Path) -> VectorSearcher:
        """Open what `write` wrote.

        Raises:
            StoreError: the store cannot be reached, or its content has changed.
        """


@runtime_checkable
class Approximate(Protocol):
    """A searcher that may miss documents and measures how many."""

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the same as `VectorSearcher.exactness`, for questions."""
