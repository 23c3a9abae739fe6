"""From float32 scores to the ranking of exact arithmetic, the same in every store."""

import numpy as np
from numpy.typing import NDArray

from bears.errors import StoreError
from bears.retrieval.ranking import BITS, kth_best
from bears.retrieval.vectors import Vectors

_UNIT = 2.0**-24


def dense_slack(dimensions: int) -> float:
    """Return how far below the last wanted float32 cosine a text may still belong to the best.

    This is twice the error of a float32 dot product of vectors of length 1, in whatever order it
    is summed (Higham 2002, equation 3.5), and one step of the rounding of scores.
    """
    error = dimensions * _UNIT / (1 - dimensions * _UNIT)
    return 2 * error + 2.0 ** (1 - BITS)


def cosines(vectors: Vectors, vector: Vectors) -> NDArray[np.float64]:
    """Return dot products in float64; shapes (n, dimensions), (dimensions,) to (n,)."""
    return np.asarray(vectors.astype(np.float64) @ vector.astype(np.float64))


def check_dimensions(vectors: Vectors, dimensions: int) -> None:
    """Raise StoreError if the questions' dimensions differ from those of the index."""
    if vectors.shape[1] != dimensions:
        raise StoreError(
            f"the question has {vectors.shape[1]} dimensions, the index {dimensions}; "
            "index again with the encoder of the questions: `dvc repro index`"
        )


def candidates(scores: NDArray[np.float32], k: int, slack: float) -> NDArray[np.int64]:
    """Return the positions of all texts that may be among the ``k`` best.

    Args:
        scores: shape (n,).
        k: how many texts.
        slack: `dense_slack`.
    """
    if k >= len(scores):
        return np.arange(len(scores))
    return np.flatnonzero(scores >= np.float32(kth_best(scores, k)) - slack)
