"""An inverted index on disk: for each term, the chunks that hold it and how often."""

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from bears.files.intake.files import read_whole
from bears.files.progress import Progress
from bears.files.records import atomic_write, write_text
from bears.retrieval.index_files import damaged, map_array, read_value
from bears.retrieval.sparse.analysis import Analyzer
from bears.retrieval.sparse.vocabulary import TOGETHER, Counts, Vocabulary, changes
from bears.types import Document


@dataclass(frozen=True, slots=True)
class Postings:
    """What `write` wrote, memory-mapped where it is large.

    Args:
        numbers: term to its place in the order in which they first appear.
        starts: where the postings of a term begin, shape (terms + 1,).
        chunks: number of the chunk, ascending within a term, shape (postings,).
        counts: how often the term stands in the chunk, shape (postings,).
        lengths: terms of each chunk, shape (chunks,).
        doc_ids: of each chunk.
        groups: of each chunk.
    """

    numbers: dict[str, int]
    starts: NDArray[np.int64]
    chunks: NDArray[np.int32]
    counts: NDArray[Any]
    lengths: NDArray[np.int64]
    doc_ids: list[str]
    groups: list[str]


def read(folder: Path) -> Postings:
    """Open what `write` wrote.

    Raises:
        StoreError: a file is damaged.
        FormatError: a file is missing.
    """
    try:
        terms = read_whole(folder / "terms.txt").decode().split("\n")[:-1]
    except UnicodeDecodeError as error:
        raise damaged(folder / "terms.txt", str(error)) from None
    doc_ids, groups = (
        read_value(folder / f"{name}.json", list[str]) for name in ("doc_ids", "groups")
    )
    if len(groups) != len(doc_ids):
        raise damaged(folder / "groups.json", f"{len(groups)} for {len(doc_ids)} chunks")
    starts = np.array(map_array(folder / "starts.npy", "i", (len(terms) + 1,)))
    size = int(starts[-1])
    if starts[0] or (np.diff(starts) < 0).any():
        raise damaged(folder / "starts.npy", "the numbers do not ascend from 0")
    return Postings(
        dict(zip(terms, range(len(terms)), strict=True)),
        starts,
        map_array(folder / "pieces.npy", "i", (size,)),
        map_array(folder / "counts.npy", "u", (size,)),
        np.array(map_array(folder / "lengths.npy", "i", (len(doc_ids),))),
        doc_ids,
        groups,
    )


def write(documents: Iterable[Document], analyze: Analyzer, folder: Path) -> None:
    """Count the terms of ``documents``, read once, and write their postings by term."""
    vocabulary = Vocabulary(analyze)
    doc_ids: list[str] = []
    groups: list[str] = []
    lengths = [np.zeros(0, np.int64)]
    bar = Progress(total=length_hint(documents) or None, unit=" chunks", unit_scale=True)
    with bar, tempfile.TemporaryFile(dir=folder) as stream:
        spilled = _Spilled(stream)
        for batch in _batches(documents):
            counted = vocabulary.count([document.content for document in batch])
            spilled.add(counted, first=len(doc_ids))
            doc_ids.extend([document.doc_id for document in batch])
            groups.extend([document.group for document in batch])
            lengths.append(counted.lengths)
            bar.update(len(batch))
        _write_postings(vocabulary.terms, spilled, folder)
    with atomic_write(folder / "lengths.npy") as file:
        np.save(file, np.concatenate(lengths))
    for name, values in (("doc_ids", doc_ids), ("groups", groups)):
        write_text(folder / f"{name}.json", json.dumps(values, ensure_ascii=False))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.content)
        if characters > TOGETHER:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


class _Spilled:
    """Postings of batch after batch, kept on disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._batches, self.highest = stream, 0, 1

    def add(self, counted: Counts, first: int) -> None:
        """Keep a batch whose first chunk has the number ``first``."""
        highest = int(counted.counts.max(initial=1))
        for array in (
            counted.terms.astype(np.int32),
            (counted.texts + first).astype(np.int32),
            counted.counts.astype(np.min_scalar_type(highest)),
        ):
            np.save(self._stream, array)
        self._batches += 1
        self.highest = max(self.highest, highest)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Terms, chunks and counts of each batch; see `Counts`."""
        self._stream.seek(0)
        for _ in range(self._batches):
            yield np.load(self._stream), np.load(self._stream), np.load(self._stream)


def _write_postings(terms: list[str], spilled: _Spilled, folder: Path) -> None:
    starts = np.zeros(len(terms) + 1, np.int64)
    for of_batch, _, _ in spilled:
        starts[1:] += np.bincount(of_batch, minlength=len(terms))
    np.cumsum(starts, out=starts)
    free = starts[:-1].copy()
    write_text(folder / "terms.txt", "\n".join([*terms, ""]))
    with atomic_write(folder / "starts.npy") as stream:
        np.save(stream, starts)
    size, smallest = int(starts[-1]), np.min_scalar_type(spilled.highest)
    with (
        _array(folder / "pieces.npy", size, np.dtype(np.int32)) as chunks,
        _array(folder / "counts.npy", size, smallest) as counts,
    ):
        for of_batch, of_chunk, count in spilled:
            firsts = np.flatnonzero(changes(of_batch))
            sizes = np.diff(firsts, append=len(of_batch))
            places = np.arange(len(of_batch)) + np.repeat(free[of_batch[firsts]] - firsts, sizes)
            free[of_batch[firsts]] += sizes
            chunks[places], counts[places] = of_chunk, count


@contextmanager
def _array(path: Path, size: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """An array that is filled in place in its file."""
    with atomic_write(path) as stream:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.flush()
        # A file of no bytes cannot be mapped.
        array = np.zeros(0, dtype) if not size else _map(stream, size, dtype)
        yield array


def _map(stream: IO[bytes], size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    start = stream.tell()
    if hasattr(os, "posix_fallocate"):
        # On a full disk this raises; a write to what is only mapped would end the process (SIGBUS).
        os.posix_fallocate(stream.fileno(), start, size * dtype.itemsize)
    return np.memmap(stream, dtype, "r+", start, (size,)).view(np.ndarray)
