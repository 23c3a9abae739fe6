"""What a retriever is, and how scores become a ranking that is the same everywhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.clock import Clock
from bears.types import Document, Hit, Ranking

BITS = 20
"""Mantissa bits of a score: few enough that another processor's last bit of float64 changes
nothing, and that trec_eval, which reads scores in 32 bits, sees the same ties as we do."""


@dataclass(frozen=True, slots=True)
class Query:
    """What an index is asked.

    Args:
        text: the question.
        group: only documents of this `Document.group` may be found; empty: any document.
    """

    text: str
    group: str = ""


class Searcher(Protocol):
    """An index that was opened."""

    def search(self, query: Query, k: int, clock: Clock) -> Ranking:
        """The best ``k`` documents; fewer where fewer match at all.

        Args:
            query: what to look for.
            k: how many documents, not chunks.
            clock: ``with clock("encode"): …`` around each stage (encode, search, fuse, rerank).
        """
        ...


class Retriever(Protocol):
    """Makes an index of documents, and opens it again. The constructor takes its settings only."""

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Write the index of ``documents`` into an empty folder.

        Args:
            documents: read once, in order; may be more than memory holds. Pieces of one document
                follow one another under its id; its score is that of its best piece (MaxP).
            folder: where the index lies, or what is needed to find it again.
            scratch: outlives a killed run and is outside of DVC's reach; what is there may be
                resumed from.
        """
        ...

    def open(self, folder: Path) -> Searcher:
        """Read an index that `index` wrote."""
        ...


def best(
    scores: NDArray[Any],
    doc_ids: Sequence[str],
    k: int,
    positions: NDArray[np.integer[Any]] | None = None,
) -> Ranking:
    """The ``k`` best documents by (score descending, doc_id descending).

    Args:
        scores: shape (n,), one for each piece; ``-inf`` leaves a piece out.
        doc_ids: the ids; pieces of one document share its id, and the best one counts.
        k: how many documents at the most.
        positions: where the id of each piece stands in ``doc_ids``, shape (n,); None: in order.
    """
    rounded = rounded_scores(scores)
    depth = k
    while True:
        pieces = _best_pieces(rounded, depth)
        places = pieces if positions is None else positions.take(pieces)
        ids = list(map(doc_ids.__getitem__, places.tolist()))
        ranking = _ranking(rounded.take(pieces), ids, k)
        if len(ranking) == k or depth >= len(rounded):
            return ranking
        depth *= 2


def _ranking(scores: NDArray[np.float64], doc_ids: list[str], k: int) -> Ranking:
    """The first ``k`` documents of pieces whose scores descend."""
    pairs = list(zip(scores.tolist(), doc_ids, strict=True))
    if (scores[1:] == scores[:-1]).any():
        pairs.sort(reverse=True)
    of_document: dict[str, float] = {}
    for score, doc_id in pairs:
        of_document.setdefault(doc_id, score)
        if len(of_document) == k:
            break
    return tuple(map(Hit._make, of_document.items()))


def kth_best(scores: NDArray[Any], k: int) -> float:
    """The ``k``-th highest score, counting equal ones; there are at least ``k``, and no NaN.

    `numpy.partition` alone takes 8 ms for a million scores. The ``k``-th highest of the highest
    scores of some parts is not above what is sought, and leaves few to look at.
    """
    parts = max(4 * k, isqrt(len(scores)))
    if len(scores) > 4 * parts:
        highest = scores[: len(scores) // parts * parts].reshape(-1, parts).max(axis=0)
        bound = np.partition(highest, parts - k)[parts - k]
        scores = scores[(scores >= bound).nonzero()]
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _best_pieces(rounded: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """At least the ``k`` best pieces and all that tie with the last of them, scores descending."""
    keep = np.isfinite(rounded)
    # Looking for the k-th best takes longer than sorting a few more.
    if 2 * k < len(rounded):
        keep &= rounded >= kth_best(rounded, k)
    (pieces,) = keep.nonzero()
    return pieces.take((-rounded.take(pieces)).argsort())


def rounded_scores(scores: NDArray[Any]) -> NDArray[np.float64]:
    """The scores with mantissas of `BITS` bits; infinities stay."""
    mantissas, exponents = np.frexp(scores.astype(np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS), np.float64)
