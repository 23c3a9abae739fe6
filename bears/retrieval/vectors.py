"""The protocols of dense retrieval: encoders, from texts to vectors, and stores of vectors."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from bears.errors import VectorError
from bears.retrieval.cut import Cut
from bears.types import Ranking

Vectors = NDArray[np.float32]
Kind = Literal["document", "question"]
CALLED = {"document": "indexed texts", "question": "questions"}
UNCUT = Cut(CALLED["document"], 0)


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


@dataclass(frozen=True, slots=True)
class TextShard:
    """Chunks of documents that are encoded and stored together: the unit of resuming.

    Args:
        number: from 0, without gaps; the same chunks have the same number in every run.
        doc_ids: of each chunk; see `bears.retrieval.chunking.chunks`.
        groups: `Document.group` of each chunk.
        texts: of each chunk.
    """

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]


class Terms(NamedTuple):
    """A sparse vector: the numbers of some terms, and a weight of each."""

    numbers: list[int]
    weights: list[float]


@dataclass(frozen=True, slots=True)
class Shard(TextShard):
    """Chunks with their vectors.

    Args:
        vectors: shape (chunks, dimensions), length 1 each.
        cut: how much of the texts is not in their vectors.
        terms: of each chunk, for a store that also searches those; empty: of none.
    """

    vectors: Vectors
    cut: Cut = UNCUT
    terms: tuple[Terms, ...] = ()


class VectorSearcher(Protocol):
    """An open store."""

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """Return for each vector the ``k`` chunks of highest cosine.

        Args:
            vectors: of the questions, shape (questions, dimensions), length 1 each.
            k: how many chunks.
            groups: for each vector, the only group to search; empty: all chunks.
        """

    def exactness(self, vectors: Vectors, k: int) -> Mapping[str, object]:
        """Return how exact the search is, as plain JSON values.

        Args:
            vectors: of the questions, shape (questions, dimensions).
            k: how many documents per question.

        Returns:
            ``{"exact": True}``, or ``exact`` False with ``recall``: the mean share of the exact
            ``k`` documents that the approximate search finds.
        """


class VectorStore(Protocol):
    """Makes a store of vectors and opens it again. The constructor only takes settings."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Store every shard; ``folder`` holds the store, or what is needed to find it again.

        A store that survives a killed run (a server) may skip what it already has.

        Raises:
            StoreError: the store cannot be reached, or cannot take the shards.
        """

    def open(self, folder: Path) -> VectorSearcher:
        """Open what `write` wrote.

        Raises:
            StoreError: the store cannot be reached, or its content has changed.
        """


@runtime_checkable
class Approximate(Protocol):
    """A searcher that may miss documents and measures how many."""

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the same as `VectorSearcher.exactness`, for questions."""


@dataclass(frozen=True, slots=True)
class NumberedShard:
    """A shard whose chunks are numbered through the whole corpus.

    Args:
        start: number of its first chunk.
        digest: of its content and its place.
        payloads: of each chunk: ``doc_id``, ``text``, ``group`` and ``shard`` (the digest); with
            terms also ``same``, which chunks of the same vector and terms share.
        shard: the shard.
    """

    start: int
    digest: str
    payloads: list[dict[str, Any]]
    shard: Shard


def numbered(shards: Iterable[Shard]) -> Iterator[NumberedShard]:
    """Number the chunks of ``shards``, one shard in memory at a time."""
    start = 0
    for shard in shards:
        digest = _digest(shard, start)
        payloads = [
            {"doc_id": doc_id, "text": text, "group": group, "shard": digest}
            for doc_id, group, text in zip(shard.doc_ids, shard.groups, shard.texts, strict=True)
        ]
        for payload, vector, terms in zip(payloads, shard.vectors, shard.terms, strict=False):
            content = vector.tobytes() + repr(terms).encode()
            payload["same"] = hashlib.sha256(content).hexdigest()[:16]
        yield NumberedShard(start, digest, payloads, shard)
        start += len(payloads)


def _digest(shard: Shard, start: int) -> str:
    """Return a digest of a shard and of the number of its first point."""
    digest = hashlib.sha256(repr((shard.vectors.shape, start)).encode())
    digest.update(np.ascontiguousarray(shard.vectors, "<f4").data)
    for column in (shard.doc_ids, shard.groups, shard.texts):
        for value in column:
            encoded = value.encode("utf-8", "surrogatepass")
            digest.update(b"%d:" % len(encoded) + encoded)
    if shard.terms:
        digest.update(repr(shard.terms).encode())
    return digest.hexdigest()[:32]
