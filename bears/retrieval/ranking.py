"""From scores to a ranking that is the same everywhere."""

from collections.abc import Sequence
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.types import Hit, Ranking

BITS = 20
"""Mantissa bits of a score: few enough that another processor's last bit of float64 changes
nothing, and that trec_eval, which reads scores in 32 bits, sees the same ties as we do."""


def best(
    scores: NDArray[Any],
    doc_ids: Sequence[str],
    k: int,
    positions: NDArray[np.integer[Any]] | None = None,
) -> Ranking:
    """Return the ``k`` best documents by (score descending, doc_id descending).

    Args:
        scores: shape (n,), one per chunk; ``-inf`` leaves a chunk out.
        doc_ids: the ids; chunks of one document share its id, and the best one counts.
        k: how many documents at most.
        positions: the place of each chunk's id in ``doc_ids``, shape (n,); None: in order.
    """
    rounded = rounded_scores(scores)
    depth = k
    while True:
        chunks = _best_chunks(rounded, depth)
        places = chunks if positions is None else positions.take(chunks)
        ids = list(map(doc_ids.__getitem__, places.tolist()))
        ranking = _ranking(rounded.take(chunks), ids, k)
        if len(ranking) == k or depth >= len(rounded):
            return ranking
        depth *= 2


def _ranking(scores: NDArray[np.float64], doc_ids: list[str], k: int) -> Ranking:
    """Return the first ``k`` documents of chunks whose scores descend."""
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
    """Return the ``k``-th highest score, counting equal ones; there are at least ``k``, and no NaN.

    `numpy.partition` alone takes 8 ms for a million scores. The ``k``-th highest of the highest
    scores of some parts is a lower bound, which leaves few to look at.
    """
    parts = max(4 * k, isqrt(len(scores)))
    if len(scores) > 4 * parts:
        highest = scores[: len(scores) // parts * parts].reshape(-1, parts).max(axis=0)
        bound = np.partition(highest, parts - k)[parts - k]
        scores = scores[(scores >= bound).nonzero()]
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def _best_chunks(rounded: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the ``k`` best chunks and all that tie with the last, by descending score."""
    keep = np.isfinite(rounded)
    # Finding the k-th best takes longer than sorting a few more.
    if 2 * k < len(rounded):
        keep &= rounded >= kth_best(rounded, k)
    (chunks,) = keep.nonzero()
    return chunks.take((-rounded.take(chunks)).argsort())


def rounded_scores(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Round scores to mantissas of `BITS` bits; infinities stay."""
    mantissas, exponents = np.frexp(scores.astype(np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS), np.float64)
