"""What turns texts into vectors."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """A model with its recipe: prefixes, pooling, length, normalisation.

    The constructor takes settings only; `load`, or the first text, loads the weights.
    """

    @property
    def identity(self) -> dict[str, Any]:
        """Everything that the vectors depend on, as plain JSON values; no secret."""

    def load(self) -> None:
        """Get ready for questions, so that the first one does not wait for the model."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions), in the order of ``texts``."""

    def questions(self, texts: Sequence[str]) -> Vectors:
        """As `documents`, by the model's recipe for what is asked."""


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Rows of length 1, computed in float64, as float32; a row of zeros stays one."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)
