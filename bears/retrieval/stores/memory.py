"""Vectors in a file, searched exactly with NumPy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from bears.errors import StoreError
from bears.formats.records import atomic_write, read_lines, to_line
from bears.retrieval.encoder import Vectors
from bears.retrieval.retriever import best
from bears.retrieval.stores.exact import candidates, cosines, dense_slack
from bears.retrieval.stores.rows import check_shape, nothing
from bears.retrieval.vector_store import Shard
from bears.types import Ranking


class Memory:
    """Exact search over a memory-mapped file, which may be larger than memory.

    Args:
        name: of the file under conf/vector_store.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def write(self, shards: Iterable[Shard], folder: Path) -> None:
        """Write ``vectors.npy`` (pieces, dimensions) as float32, and ids and groups beside it.

        One shard is in memory at a time. ``pieces.jsonl`` has a line for each.

        Raises:
            StoreError: the shards differ in their dimensions, or there are none.
        """
        pieces, dimensions = 0, 0
        with (
            atomic_write(folder / "vectors.npy") as vectors,
            atomic_write(folder / "pieces.jsonl") as names,
        ):
            for shard in shards:
                dimensions = dimensions or shard.vectors.shape[1]
                check_shape(shard, dimensions)
                if not pieces:
                    _write_header(vectors, 0, dimensions)
                vectors.write(np.ascontiguousarray(shard.vectors, "<f4").data)
                groups = shard.groups if any(shard.groups) else ()
                names.write(to_line({"doc_ids": shard.doc_ids, "groups": groups}).encode())
                pieces += len(shard.doc_ids)
            if not pieces:
                raise nothing()
            vectors.seek(0)
            _write_header(vectors, pieces, dimensions)

    def open(self, folder: Path) -> MemorySearcher:
        """Map what `write` wrote."""
        doc_ids: list[str] = []
        groups: dict[str, list[int]] = {}
        for _, line in read_lines(folder / "pieces.jsonl"):
            for position, group in enumerate(line["groups"], len(doc_ids)):
                groups.setdefault(group, []).append(position)
            doc_ids += line["doc_ids"]
        # A slice of numpy.memmap costs more than one of the array below it.
        vectors = np.load(folder / "vectors.npy", mmap_mode="r").view(np.ndarray)
        return MemorySearcher(vectors, doc_ids, groups)


def _write_header(stream: IO[bytes], pieces: int, dimensions: int) -> None:
    """NumPy leaves room in a header for its first number to grow, so the length never changes."""
    np.lib.format.write_array_header_1_0(
        stream, {"descr": "<f4", "fortran_order": False, "shape": (pieces, dimensions)}
    )


class MemorySearcher:
    """One matrix product a question; the system pages the vectors in and out.

    Args:
        vectors: shape (pieces, dimensions).
        doc_ids: of each piece.
        groups: group to the positions of its pieces.
    """

    def __init__(self, vectors: Vectors, doc_ids: list[str], groups: dict[str, list[int]]) -> None:
        self._vectors, self._doc_ids = vectors, doc_ids
        self._groups = {group: np.array(positions) for group, positions in groups.items()}
        self._slack = dense_slack(vectors.shape[1])

    def nearest(self, vector: Vectors, k: int, group: str = "") -> Ranking:
        """The ``k`` documents of highest cosine.

        Raises:
            StoreError: the vector has other dimensions than the index.
        """
        if len(vector) != self._vectors.shape[1]:
            raise StoreError(
                f"the question has {len(vector)} dimensions, the index {self._vectors.shape[1]}; "
                "index again with the encoder that is asked: `dvc repro index`"
            )
        if group:
            positions = self._groups.get(group, np.zeros(0, np.int64))
        else:
            positions = candidates(self._vectors @ vector, self._doc_ids, k, self._slack)
        scores = cosines(self._vectors[positions], vector)
        return best(scores, self._doc_ids, k, positions)

    def exactness(self, vectors: Vectors, k: int) -> dict[str, Any]:  # noqa: ARG002
        """This search is exact."""
        return {"exact": True}
