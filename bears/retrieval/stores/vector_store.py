"""What keeps vectors and finds the nearest ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from numpy.typing import NDArray

from bears.retrieval.cut import Cut
from bears.retrieval.models.encoder import CALLED, Vectors
from bears.types import Ranking

UNCUT = Cut(CALLED["document"], 0)


@dataclass(frozen=True, slots=True)
class Sparse:
    """A vector of which only the entries that are not zero are written down.

    Args:
        indices: the terms' numbers, each once; shape (entries,).
        values: their weights in the same order.
    """

    indices: NDArray[Any]
    values: NDArray[Any]


@dataclass(frozen=True, slots=True)
class Shard:
    """Chunks of documents with their vectors: the unit of storing and of resuming.

    Args:
        number: from 0, without gaps; the same chunks have the same number in every run.
        doc_ids: of each chunk; the chunks of a document follow one another.
        groups: `Document.group` of each chunk.
        texts: of each chunk.
        vectors: shape (chunks, dimensions), length 1 each.
        sparse: of each chunk, for a store that holds both kinds; empty: there are none.
        cut: how much of the texts is not in their vectors.
    """

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    sparse: tuple[Sparse, ...] = ()
    cut: Cut = UNCUT


class VectorSearcher(Protocol):
    """A store that was opened."""

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """For each vector the ``k`` documents whose best chunk has the highest cosine (MaxP).

        Args:
            vectors: the questions', shape (questions, dimensions), length 1 each.
            k: how many documents, not chunks.
            groups: for each vector, the group whose documents alone count; empty: any.
        """

    def exactness(self, vectors: Vectors, k: int) -> dict[str, Any]:
        """What a run has to say about its search, as plain JSON values.

        Args:
            vectors: the questions', shape (questions, dimensions).
            k: how many documents a question.

        Returns:
            ``{"exact": True}``, or ``exact`` False with ``recall``: the mean share of the exact
            ``k`` documents that the approximate search finds.
        """


class VectorStore(Protocol):
    """Makes a store of vectors, and opens it again. The constructor takes its settings only."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Store every shard; ``folder`` holds the store, or what is needed to find it again.

        A store that survives a killed run (a server) may skip what it has already.

        Raises:
            StoreError: the store cannot be reached, or cannot take the shards.
        """

    def open(self, folder: Path) -> VectorSearcher:
        """Open what `write` wrote.

        Raises:
            StoreError: the store cannot be reached, or holds something else by now.
        """


@runtime_checkable
class Approximate(Protocol):
    """A searcher that may miss something, and says how much."""

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """As `VectorSearcher.exactness`, for questions."""
