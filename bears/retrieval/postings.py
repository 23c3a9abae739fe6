"""An inverted index on disk: for each term, the pieces that hold it and how often."""

from __future__ import annotations

import json
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bears.formats.records import atomic_write, read_bytes, read_json, write_text
from bears.retrieval.analysis import Analyzer
from bears.retrieval.vocabulary import Counted, Vocabulary, counted
from bears.retrieval.words import split
from bears.types import Document

A = TypeVar("A")
B = TypeVar("B")

BATCH = 8 << 20
"""Characters that are counted together; peak memory is set by this and by the vocabulary."""

FIRST = 1 << 20
"""Characters of the first batch."""


@dataclass(frozen=True, slots=True)
class Postings:
    """What `write` wrote, memory-mapped where it is large.

    Args:
        numbers: term to its place in the order in which they first appear.
        starts: where the postings of a term begin, shape (terms + 1,).
        pieces: number of the piece, ascending within a term, shape (postings,).
        counts: how often the term stands in the piece, shape (postings,).
        lengths: terms of each piece, shape (pieces,).
        doc_ids: of each piece.
        groups: of each piece.
    """

    numbers: dict[str, int]
    starts: NDArray[np.int64]
    pieces: NDArray[np.int32]
    counts: NDArray[Any]
    lengths: NDArray[np.int64]
    doc_ids: list[str]
    groups: list[str]


def read(folder: Path) -> Postings:
    """Open what `write` wrote."""
    terms = read_bytes(folder / "terms.txt").decode().split("\n")[:-1]
    return Postings(
        dict(zip(terms, range(len(terms)), strict=True)),
        np.load(folder / "starts.npy"),
        _mapped(folder / "pieces.npy"),
        _mapped(folder / "counts.npy"),
        np.load(folder / "lengths.npy"),
        read_json(folder / "doc_ids.json"),
        read_json(folder / "groups.json"),
    )


def _mapped(path: Path) -> NDArray[Any]:
    # A slice of numpy.memmap costs microseconds, a slice of a plain array does not.
    mapped: NDArray[Any] = np.load(path, mmap_mode="r").view(np.ndarray)
    return mapped


def write(documents: Iterable[Document], analyze: Analyzer, folder: Path) -> None:
    """Count the terms of ``documents``, read once, and write their postings by term."""
    vocabulary = Vocabulary(analyze)
    doc_ids: list[str] = []
    groups: list[str] = []
    lengths = [np.zeros(0, np.int64)]

    def texts() -> Iterator[list[str]]:
        for batch in _batches(documents):
            doc_ids.extend([document.doc_id for document in batch])
            groups.extend([document.group for document in batch])
            yield [document.content for document in batch]

    bar = tqdm(total=length_hint(documents) or None, unit=" pieces", unit_scale=True, disable=None)
    with bar, tempfile.TemporaryFile(dir=folder) as stream:
        spilled = _Spilled(stream)
        for of_batch in _ahead(counted, map(vocabulary.number, _ahead(split, texts()))):
            spilled.add(of_batch, sum(map(len, lengths)))
            lengths.append(of_batch.lengths)
            bar.update(len(of_batch.lengths))
        _write_postings(vocabulary.terms, spilled, folder)
    with atomic_write(folder / "lengths.npy") as file:
        np.save(file, np.concatenate(lengths))
    for name, values in (("doc_ids", doc_ids), ("groups", groups)):
        write_text(folder / f"{name}.json", json.dumps(values, ensure_ascii=False))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters, size = 0, min(FIRST, BATCH)
    for document in documents:
        batch.append(document)
        characters += len(document.content)
        if characters > size:
            yield batch
            # The threads that wait for the first ones have something to do early.
            batch, characters, size = [], 0, min(2 * size, BATCH)
    if batch:
        yield batch


def _ahead(call: Callable[[A], B], arguments: Iterable[A]) -> Iterator[B]:
    """What ``call`` gives for each, one of them made by a thread while the last one is used."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[Future[B]] = deque()
        for argument in arguments:
            waiting.append(pool.submit(call, argument))
            if len(waiting) > 1:
                yield waiting.popleft().result()
        for future in waiting:
            yield future.result()


class _Batch(NamedTuple):
    """How much of a file is a batch's, and the type of its counts."""

    terms: int
    postings: int
    counts: np.dtype[Any]


class _Spilled:
    """Postings of batch after batch, kept on disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._batches, self.highest = stream, list[_Batch](), 1

    def add(self, counted: Counted, first: int) -> None:
        """Keep a batch whose first piece has the number ``first``."""
        highest = int(counted.counts.max(initial=1))
        kind = np.min_scalar_type(highest)
        for array in (
            counted.terms,
            counted.sizes.astype(np.int32),
            counted.texts + np.int32(first),
            counted.counts.astype(kind),
        ):
            array.tofile(self._stream)
        self._batches.append(_Batch(len(counted.terms), len(counted.texts), kind))
        self.highest = max(self.highest, highest)

    def __iter__(self) -> Iterator[tuple[NDArray[Any], ...]]:
        """Terms, sizes, pieces and counts of each batch; see `Counted`."""
        self._stream.seek(0)
        for batch in self._batches:
            sizes = (batch.terms, batch.terms, batch.postings, batch.postings)
            short = np.dtype(np.int32)
            kinds = (short, short, short, batch.counts)
            yield tuple(
                np.fromfile(self._stream, kind, size)
                for kind, size in zip(kinds, sizes, strict=True)
            )


def _write_postings(terms: list[str], spilled: _Spilled, folder: Path) -> None:
    starts = np.zeros(len(terms) + 1, np.int64)
    for of_batch, sizes, _, _ in spilled:
        starts[of_batch + 1] += sizes
    np.cumsum(starts, out=starts)
    free = starts[:-1].copy()
    write_text(folder / "terms.txt", "\n".join([*terms, ""]))
    with atomic_write(folder / "starts.npy") as stream:
        np.save(stream, starts)
    size, smallest = int(starts[-1]), np.min_scalar_type(spilled.highest)
    with (
        _array(folder / "pieces.npy", size, np.dtype(np.int32)) as pieces,
        _array(folder / "counts.npy", size, smallest) as counts,
    ):
        for of_batch, sizes, of_piece, count in spilled:
            firsts = np.cumsum(sizes) - sizes
            places = np.arange(len(of_piece)) + np.repeat(free[of_batch] - firsts, sizes)
            free[of_batch] += sizes
            pieces[places], counts[places] = of_piece, count


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
    return np.memmap(stream, dtype, "r+", stream.tell(), (size,)).view(np.ndarray)
