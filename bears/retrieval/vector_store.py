"""What keeps vectors and finds the nearest ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.encoder import Vectors
from bears.types import Ranking


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
    """Pieces of documents with their vectors: the unit of storing and of resuming.

    Args:
        number: from 0, without gaps; the same pieces have the same number in every run.
        doc_ids: of each piece; the pieces of a document follow one another.
        groups: `Document.group` of each piece.
        texts: of each piece.
        vectors: shape (pieces, dimensions), length 1 each.
        sparse: of each piece, for a store that holds both kinds; empty: there are none.
    """

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]
    vectors: Vectors
    sparse: tuple[Sparse, ...] = ()


class VectorSearcher(Protocol):
    """A store that was opened."""

    def nearest(self, vector: Vectors, k: int, group: str = "") -> Ranking:
        """The ``k`` documents whose best piece has the highest cosine (MaxP).

        Args:
            vector: shape (dimensions,), length 1.
            k: how many documents, not pieces.
            group: only documents of this group; empty: any.
        """
        ...

    def exactness(self, vectors: Vectors, k: int) -> dict[str, Any]:
        """What a run has to say about its search, as plain JSON values.

        Args:
            vectors: the questions', shape (questions, dimensions).
            k: how many documents a question.

        Returns:
            ``{"exact": True}``, or ``exact`` False with ``recall``: the mean share of the exact
            ``k`` documents that the approximate search finds.
        """
        ...


class VectorStore(Protocol):
    """Makes a store of vectors, and opens it again. The constructor takes its settings only."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Store every shard; ``folder`` holds the store, or what is needed to find it again.

        A store that survives a killed run (a server) may skip what it has already.

        Raises:
            StoreError: the store cannot be reached, or cannot take the shards.
        """
        ...

    def open(self, folder: Path) -> VectorSearcher:
        """Open what `write` wrote.

        Raises:
            StoreError: the store cannot be reached, or holds something else by now.
        """
        ...


class SparseScores(Protocol):
    """Exact scores of the sparse leg, for what the store found."""

    def __call__(self, pieces: NDArray[np.int64]) -> NDArray[np.float64]:
        """One score for each of these pieces, numbered from 0 in the order of the shards."""
        ...


class TwoLegs(VectorSearcher, Protocol):
    """A searcher over dense and sparse vectors of the same pieces."""

    def legs(
        self, vector: Vectors, sparse: Sparse, scores: SparseScores, k: int, group: str = ""
    ) -> tuple[Ranking, Ranking]:
        """The best ``k`` documents of the dense and of the sparse leg, from one request."""
        ...

    def fused(
        self, vector: Vectors, sparse: Sparse, window: int, k: int, constant: int, group: str = ""
    ) -> Ranking:
        """The best ``k`` documents as the store itself fuses its legs.

        Args:
            vector: shape (dimensions,), length 1.
            sparse: of the same question.
            window: how many pieces of each leg take part.
            k: how many documents.
            constant: the first piece of a leg counts 1 / ``constant``, the next one
                1 / (``constant`` + 1), and so on.
            group: only documents of this group; empty: any.
        """
        ...


@runtime_checkable
class TwoLegStore(VectorStore, Protocol):
    """A store whose points have both kinds of vectors."""

    def open_both(self, folder: Path) -> TwoLegs:
        """Open what `write` wrote."""
        ...


@runtime_checkable
class Approximate(Protocol):
    """A searcher that may miss something, and says how much."""

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """As `VectorSearcher.exactness`, for questions."""
        ...
