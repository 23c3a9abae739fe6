"""The protocol of an encoder, from texts to vectors, and checks of its vectors."""

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bears.errors import VectorError
from bears.retrieval.cut import Cut

Vectors = NDArray[np.float32]
Kind = Literal["document", "question"]
CALLED = {"document": "indexed texts", "question": "questions"}


class Encoder(Protocol):
    """A model with its recipe: prefixes, pooling, length, normalization.

    The constructor only takes settings; `load`, or the first text, loads the weights.
    """

    @property
    def identity(self) -> Mapping[str, object]:
        """Return everything that the vectors depend on, as plain JSON values without secrets."""

    def load(self) -> None:
        """Load the model, so that the first question does not wait for it."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, shape (texts, dimensions), in the order of ``texts``."""

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `documents`, by the model's recipe for questions."""


@runtime_checkable
class Short(Protocol):
    """An encoder that may not read a text to its end."""

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:
        """Return how many tokens it reads of a text, and how many characters of each it skips."""


@runtime_checkable
class Blocked(Protocol):
    """An encoder that reads texts block by block."""

    def blocks(self, texts: Sequence[str]) -> Iterable[Sequence[int]]:
        """Return the positions of the texts of each block; every text is in one of them."""


class Encoded(NamedTuple):
    """Vectors of texts, and how much of each text is not in its vector.

    Args:
        vectors: shape (texts, dimensions).
        tokens: how many the model reads of a text; 0: all.
        unread: how many characters of each text it does not read.
    """

    vectors: Vectors
    tokens: int
    unread: list[int]


def cut_of(encoder: Encoder, kind: Kind, texts: Sequence[str]) -> Cut:
    """Return how much of some texts an encoder does not read."""
    tokens, unread = _unread(encoder, kind, texts)
    return Cut.of(CALLED[kind], tokens, map(len, texts), unread)


def encoded(encoder: Encoder, texts: Sequence[str]) -> Encoded:
    """Return the vectors of texts to index. The encoder is loaded."""
    with ThreadPoolExecutor(1) as beside:
        unread = beside.submit(_unread, encoder, "document", texts)
        return Encoded(encoder.documents(texts), *unread.result())


def _unread(encoder: Encoder, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:
    return encoder.unread(kind, texts) if isinstance(encoder, Short) else (0, [0] * len(texts))


def blocks(encoder: Encoder, texts: Sequence[str]) -> Iterable[Sequence[int]]:
    """Return the positions of the texts that an encoder reads together, block by block."""
    if not texts:
        return []
    return encoder.blocks(texts) if isinstance(encoder, Blocked) else [range(len(texts))]


def check_vectors(vectors: NDArray[Any], texts: Sequence[str], names: Sequence[str]) -> None:
    """Refuse vectors that would be found by chance.

    Args:
        vectors: shape (texts, dimensions).
        texts: the texts of the vectors.
        names: of the texts, for the message.

    Raises:
        VectorError: there are more or fewer vectors than texts, a value is NaN or infinite, or all
            values are zero though the text has a letter or digit.
    """
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise VectorError(f"the model gave vectors of shape {vectors.shape} for {len(texts)} texts")
    finite, nonzero = np.isfinite(vectors).all(axis=1), vectors.any(axis=1)
    for row in np.flatnonzero(~(finite & nonzero)).tolist():
        if not finite[row] or any(map(str.isalnum, texts[row])):
            problem = "is all zeros" if finite[row] else "holds NaN or infinity"
            raise VectorError(
                f"the model's vector of {names[row]} {problem}, so it would be found by chance. "
                "Check that text; if it is correct, try retriever.encoder.dtype=float32, another "
                "device or another model"
            )


def question_vectors(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return `Encoder.questions`, checked. Raises VectorError as `check_vectors` does."""
    vectors = encoder.questions(texts)
    check_vectors(vectors, texts, [f"the question {text!r:.80}" for text in texts])
    return vectors


def normalized(vectors: NDArray[Any]) -> Vectors:
    """Return rows of length 1, computed in float64, as float32; a row of zeros stays zero."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), np.float32)
