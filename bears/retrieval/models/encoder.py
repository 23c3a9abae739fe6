"""What turns texts into vectors."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bears.errors import VectorError
from bears.retrieval.cut import Cut

Vectors = NDArray[np.float32]
Kind = Literal["document", "question"]
CALLED = {"document": "indexed texts", "question": "questions"}


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


@runtime_checkable
class Short(Protocol):
    """An encoder that may not read all of a text."""

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:
        """Return how many tokens of a text it reads, and the characters of each left unread."""


@runtime_checkable
class Batched(Protocol):
    """An encoder that can say which texts it reads together."""

    def batches(self, texts: Sequence[str]) -> Iterable[Sequence[int]]:
        """Return the positions of the texts of each batch; every text is in one of them."""


class Encoded(NamedTuple):
    """Vectors of texts, and what of each text is not in its vector.

    Args:
        vectors: shape (texts, dimensions).
        tokens: that the model reads of a text; 0: all of them.
        unread: characters of each text that it does not read.
    """

    vectors: Vectors
    tokens: int
    unread: list[int]


def cut_of(encoder: Encoder, kind: Kind, texts: Sequence[str]) -> Cut:
    """How much of texts an encoder does not read."""
    tokens, unread = _unread(encoder, kind, texts)
    return Cut.of(CALLED[kind], tokens, map(len, texts), unread)


def encoded(encoder: Encoder, texts: Sequence[str]) -> Encoded:
    """Return the vectors of texts that are indexed."""
    return Encoded(encoder.documents(texts), *_unread(encoder, "document", texts))


def _unread(encoder: Encoder, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:
    return encoder.unread(kind, texts) if isinstance(encoder, Short) else (0, [0] * len(texts))


def batches(encoder: Encoder, texts: Sequence[str]) -> Iterable[Sequence[int]]:
    """Return the positions of the texts that an encoder reads together, batch by batch."""
    if not texts:
        return []
    return encoder.batches(texts) if isinstance(encoder, Batched) else [range(len(texts))]


def check_vectors(vectors: NDArray[Any], texts: Sequence[str], names: Sequence[str]) -> None:
    """Refuse what would be ranked as if it were an answer.

    Args:
        vectors: shape (texts, dimensions).
        texts: what they are of.
        names: of the texts, for the message.

    Raises:
        VectorError: there are more or fewer vectors than texts, a value is NaN or infinite, or all
            values are zero though the text has a letter or digit.
    """
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise VectorError(f"the model gave vectors of shape {vectors.shape} for {len(texts)} texts")
    finite, said = np.isfinite(vectors).all(axis=1), vectors.any(axis=1)
    for row in np.flatnonzero(~(finite & said)).tolist():
        if not finite[row] or any(map(str.isalnum, texts[row])):
            found = "is all zeros" if finite[row] else "holds NaN or infinity"
            raise VectorError(
                f"the model's vector of {names[row]} {found}, so it would be found by chance. Look "
                "at that text; if it is sound, try retriever.encoder.dtype=float32, another device "
                "or another model"
            )


def question_vectors(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """`Encoder.questions`, checked. Raises VectorError as `check_vectors`."""
    vectors = encoder.questions(texts)
    check_vectors(vectors, texts, [f"the question {text!r:.80}" for text in texts])
    return vectors


def normalised(vectors: NDArray[Any]) -> Vectors:
    """Rows of length 1, computed in float64, as float32; a row of zeros stays one."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)
