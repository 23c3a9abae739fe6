"""Exact dense search: cosine similarity of float64 vectors with NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.formats.records import atomic_write, read_json, write_json
from bears.retrieval.retriever import best
from bears.types import Ranking

Vectors = NDArray[Any]


def normalised(vectors: Vectors) -> Vectors:
    """Rows of length 1 in float64; a row of zeros stays one."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths))


def write_vectors(folder: Path, vectors: Vectors, doc_ids: Sequence[str]) -> None:
    """Write unit vectors (n, dimensions) as float32 and their ids."""
    with atomic_write(folder / "vectors.npy") as stream:
        np.save(stream, normalised(vectors).astype(np.float32))
    write_json(folder / "doc_ids.json", list(doc_ids))


class DenseSearcher:
    """An exact index in memory.

    Args:
        folder: what `write_vectors` wrote.
        encode: question to a vector (dimensions,).
    """

    def __init__(self, folder: Path, encode: Callable[[str], Vectors]) -> None:
        self._vectors = np.load(folder / "vectors.npy").astype(np.float64)
        self._doc_ids = read_json(folder / "doc_ids.json")
        self._encode = encode

    def search(self, question: str, k: int) -> Ranking:
        """The ``k`` documents of highest cosine."""
        query = normalised(self._encode(question)[None, :])[0]
        return best(self._vectors @ query, self._doc_ids, k)
