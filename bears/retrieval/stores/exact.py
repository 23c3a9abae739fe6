"""From float32 scores to the ranking that exact arithmetic gives, in every store alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.encoder import Vectors
from bears.retrieval.retriever import BITS, kth_best

_UNIT = 2.0**-24


def dense_slack(dimensions: int) -> float:
    """How far below the last wanted float32 cosine a piece may lie and still belong to the best.

    Twice the error of a float32 dot product of vectors of length 1, in whatever order it is
    summed (Higham 2002, equation 3.5), and one step of the rounding of scores.
    """
    error = dimensions * _UNIT / (1 - dimensions * _UNIT)
    return 2 * error + 2.0 ** (1 - BITS)


def sparse_slack(terms: int, score: float) -> float:
    """As `dense_slack`, for a dot product of ``terms`` positive products that is near ``score``."""
    error = (terms + 3) * _UNIT
    return score * (4 * error + 2.0 ** (1 - BITS))


def cosines(vectors: Vectors, vector: Vectors) -> NDArray[np.float64]:
    """Dot products in float64; shapes (n, dimensions), (dimensions,) to (n,)."""
    return np.asarray(vectors.astype(np.float64) @ vector.astype(np.float64))


def candidates(
    scores: NDArray[np.float32], doc_ids: Sequence[str], k: int, slack: float
) -> NDArray[np.int64]:
    """Positions of every piece that may be the best one of one of the ``k`` best documents.

    Args:
        scores: shape (n,).
        doc_ids: the n ids; pieces of one document share its id.
        k: how many documents.
        slack: `dense_slack`.
    """
    depth = k
    while depth < len(scores):
        threshold = np.float32(kth_best(scores, depth))
        positions = np.flatnonzero(scores >= threshold - slack)
        surely = positions[scores[positions] >= threshold]
        if len({doc_ids[int(i)] for i in surely}) >= k:
            return positions
        depth *= 2
    return np.arange(len(scores))
