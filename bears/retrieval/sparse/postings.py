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
from bears.retrieval.sparse.vocabulary import Counts, Vocabulary, changes
from bears.types import Document

TOGETHER = 2 << 20
"""Characters that are counted together; they and the vocabulary set how much memory is used."""


@dataclass(frozen=True, slots=True)
class Postings:
    """An index that `write` wrote, memory-mapped if it is large.

    Args:
        numbers: term to its place in the order in which they first appear.
        starts: where the postings of a term begin, shape (terms + 1,).
        chunks: number of the chunk, ascending within a term, shape (postings,).
        counts: how often the chunk holds the term, shape (postings,).
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
    _save(folder / "lengths.npy", np.concatenate(lengths))
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
        """Yield terms, chunks and counts of each batch; see `Counts`."""
        self._stream.seek(0)
        for _ in range(self._batches):
            yield np.load(self._stream), np.load(self._stream), np.load(self._stream)


def _write_postings(terms: list[str], spilled: _Spilled, folder: Path) -> None:
    starts = np.zeros(len(terms) + 1, np.int64)
    for batch_terms, _, _ in spilled:
        starts[1:] += np.bincount(batch_terms, minlength=len(terms))
    np.cumsum(starts, out=starts)
    free = starts[:-1].copy()
    write_text(folder / "terms.txt", "\n".join([*terms, ""]))
    _save(folder / "starts.npy", starts)
    size, smallest = int(starts[-1]), np.min_scalar_type(spilled.highest)
    with (
        _array(folder / "pieces.npy", size, np.dtype(np.int32)) as chunks,
        _array(folder / "counts.npy", size, smallest) as counts,
    ):
        for batch_terms, batch_chunks, batch_counts in spilled:
            firsts = np.flatnonzero(changes(batch_terms))
            sizes = np.diff(firsts, append=len(batch_terms))
            shifts = np.repeat(free[batch_terms[firsts]] - firsts, sizes)
            places = np.arange(len(batch_terms)) + shifts
            free[batch_terms[firsts]] += sizes
            chunks[places], counts[places] = batch_chunks, batch_counts


def _save(path: Path, array: NDArray[Any]) -> None:
    with atomic_write(path) as stream:
        np.save(stream, array)


@contextmanager
def _array(path: Path, size: int, dtype: np.dtype[Any]) -> Iterator[NDArray[Any]]:
    """Write an array that is filled in place in its file."""
    with atomic_write(path) as stream:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (size,)}
        np.lib.format.write_array_header_1_0(stream, header)
        stream.flush()
        start = stream.tell()
        if size and hasattr(os, "posix_fallocate"):
            # On a full disk this raises; a write to a mapped hole would end the process (SIGBUS).
            os.posix_fallocate(stream.fileno(), start, size * dtype.itemsize)
        # A file of no bytes cannot be mapped.
        array = np.memmap(stream, dtype, "r+", start, (size,)) if size else np.zeros(0, dtype)
        yield array.view(np.ndarray)
