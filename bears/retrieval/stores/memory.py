"""Vectors in a file, searched exactly with NumPy: the same ranking in every store."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from bears.errors import StoreError
from bears.files.records import atomic_write, read_lines, to_line
from bears.retrieval.index_files import map_array
from bears.retrieval.ranking import BITS, best, kth_best
from bears.retrieval.vectors import Shard, Vectors
from bears.types import Ranking

PRODUCT = 1 << 24
"""How many scores are computed at once, of 4 bytes each."""
_UNIT = 2.0**-24
FIT = "index again with the encoder of the questions: `dvc repro index`"
"""What to do if the vectors of questions and of an index do not fit."""


class Memory:
    """Exact search over a memory-mapped file, which may be larger than memory."""

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Write ``vectors.npy`` (chunks, dimensions) as float32, and ids and groups beside it.

        One shard is in memory at a time. ``pieces.jsonl`` has a line for each.
        """
        chunks, dimensions = 0, 0
        with (
            atomic_write(folder / "vectors.npy") as vectors,
            atomic_write(folder / "pieces.jsonl") as names,
        ):
            for shard in shards:
                if not chunks:
                    dimensions = shard.vectors.shape[1]
                    _write_header(vectors, 0, dimensions)
                vectors.write(np.ascontiguousarray(shard.vectors, "<f4").data)
                groups = shard.groups if any(shard.groups) else ()
                names.write(to_line({"doc_ids": shard.doc_ids, "groups": groups}).encode())
                chunks += len(shard.doc_ids)
            vectors.seek(0)
            _write_header(vectors, chunks, dimensions)

    def open(self, folder: Path) -> "MemorySearcher":
        """Map what `write` wrote."""
        return MemorySearcher(*read_chunks(folder))


def read_chunks(folder: Path) -> tuple[Vectors, list[str], list[str]]:
    """Read what `Memory.write` wrote; the vectors stay in their file.

    Returns:
        Of all chunks, the vectors, shape (chunks, dimensions), the doc_ids and the groups.
    """
    doc_ids: list[str] = []
    groups: list[str] = []
    for _, line in read_lines(folder / "pieces.jsonl"):
        doc_ids += line["doc_ids"]
        # They are left out if all are empty.
        groups += line["groups"] or [""] * len(line["doc_ids"])
    return map_array(folder / "vectors.npy"), doc_ids, groups


def _write_header(stream: IO[bytes], chunks: int, dimensions: int) -> None:
    """Write the header. NumPy leaves room for its first number to grow, so its length is fixed."""
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f4", "fortran_order": False, "shape": (chunks, dimensions)}
    )


class MemorySearcher:
    """A matrix product for several questions at once; the system pages the vectors in and out."""

    def __init__(self, vectors: Vectors, doc_ids: Sequence[str], groups: Sequence[str]) -> None:
        self._vectors, self._doc_ids = vectors, doc_ids
        positions: dict[str, list[int]] = {}
        for position, group in enumerate(groups):
            if group:
                positions.setdefault(group, []).append(position)
        self._groups: dict[str, NDArray[np.int64]] = {
            group: np.array(places) for group, places in positions.items()
        }
        self._slack = dense_slack(self._vectors.shape[1])

    def nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        """Return for each vector the ``k`` documents of highest cosine.

        Raises:
            StoreError: the vectors' dimensions differ from those of the index.
        """
        check_dimensions(vectors, self._vectors.shape[1])
        together = max(1, PRODUCT // len(self._vectors))
        rankings = []
        for first in range(0, len(vectors), together):
            some = slice(first, first + together)
            rankings += self._nearest(vectors[some], k, groups[some])
        return rankings

    def _nearest(self, vectors: Vectors, k: int, groups: Sequence[str]) -> list[Ranking]:
        # All questions of the whole corpus at once, so that its vectors are read once.
        anywhere = [number for number, group in enumerate(groups) if not group]
        products = iter(vectors[anywhere] @ self._vectors.T)
        rankings = []
        for vector, group in zip(vectors, groups, strict=True):
            if group:
                positions = self._groups.get(group, np.zeros(0, np.int64))
            else:
                positions = candidates(next(products), k, self._slack)
            scores = cosines(self._vectors[positions], vector)
            rankings.append(best(scores, self._doc_ids, k, positions))
        return rankings

    def exactness(self, vectors: Vectors, k: int) -> Mapping[str, object]:  # noqa: ARG002
        """Return that this search is exact."""
        return {"exact": True}


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
            f"the question has {vectors.shape[1]} dimensions, the index {dimensions}; {FIT}"
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
