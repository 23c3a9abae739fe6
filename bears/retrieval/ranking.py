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
        scores: shape (n,); ``-inf`` leaves a document out.
        doc_ids: the ids.
        k: how many documents at most.
        positions: the place of each score's id in ``doc_ids``, shape (n,); None: in order.
    """
    rounded = rounded_scores(scores)
    found = _best_places(rounded, k)
    places = found if positions is None else positions.take(found)
    ids = map(doc_ids.__getitem__, places.tolist())
    found_scores = rounded.take(found)
    pairs = list(zip(found_scores.tolist(), ids, strict=True))
    if (found_scores[1:] == found_scores[:-1]).any():
        pairs.sort(reverse=True)
    return tuple(Hit(doc_id, score) for score, doc_id in pairs[:k])


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


def _best_places(rounded: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the places of the ``k`` best scores and all that tie with the last, descending."""
    keep = np.isfinite(rounded)
    # Finding the k-th best takes longer than sorting a few more.
    if 2 * k < len(rounded):
        keep &= rounded >= kth_best(rounded, k)
    (places,) = keep.nonzero()
    return places.take((-rounded.take(places)).argsort())


def rounded_scores(scores: NDArray[Any]) -> NDArray[np.float64]:
    """Round scores to mantissas of `BITS` bits; infinities stay."""
    mantissas, exponents = np.frexp(scores.astype(np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(mantissas, BITS)), exponents - BITS), np.float64)
