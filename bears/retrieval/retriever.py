"""What a retriever is, and how scores become a ranking that is the same everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bears.types import Document, Hit, Ranking

BITS = 20
"""Mantissa bits of a score: few enough that another processor's last bit of float64 changes
nothing, and that trec_eval, which reads scores in 32 bits, sees the same ties as we do."""


class Searcher(Protocol):
    """An index in memory."""

    def search(self, question: str, k: int) -> Ranking:
        """The best ``k`` documents; fewer where fewer match at all."""
        ...


class Retriever(Protocol):
    """Makes an index of documents, and opens it again. The constructor takes its settings only."""

    def index(self, documents: Sequence[Document], folder: Path) -> None:
        """Write the index of ``documents`` into an empty folder."""
        ...

    def open(self, folder: Path) -> Searcher:
        """Read an index that `index` wrote."""
        ...


def best(scores: NDArray[Any], doc_ids: Sequence[str], k: int) -> Ranking:
    """The ``k`` best documents by (score descending, doc_id descending).

    Args:
        scores: shape (n,), one for each document; ``-inf`` leaves a document out.
        doc_ids: the n ids.
        k: how many at the most.
    """
    rounded = rounded_scores(scores)
    if k < len(rounded):
        threshold = np.partition(rounded, len(rounded) - k)[len(rounded) - k]
        candidates = np.flatnonzero(rounded >= threshold)
    else:
        candidates = np.arange(len(rounded))
    hits = [Hit(doc_ids[int(i)], float(rounded[i])) for i in candidates if np.isfinite(rounded[i])]
    hits.sort(key=lambda hit: (hit.score, hit.doc_id), reverse=True)
    return tuple(hits[:k])


def rounded_scores(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The scores with mantissas of `BITS` bits; infinities stay."""
    mantissas, exponents = np.frexp(scores.astype(np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS), np.float64)
