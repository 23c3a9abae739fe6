"""An inverted index on disk: for each term, the pieces that hold it and how often."""

from __future__ import annotations

import json
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from operator import length_hint
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bears.formats.records import atomic_write, read_bytes, read_json, write_text
from bears.retrieval.analysis import Analyzer
from bears.retrieval.vocabulary import Counted, Vocabulary, Words, split
from bears.types import Document

BATCH = 16 << 20
"""Characters that are counted together; peak memory is set by this and by the vocabulary."""


@dataclass(frozen=True, slots=True)
class Postings:
    """What `write` wrote, memory-mapped where it is large.

    Args:
        numbers: term to its place in the order of all terms.
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
    bar = tqdm(total=length_hint(documents) or None, unit=" pieces", unit_scale=True, disable=None)
    with bar, tempfile.TemporaryFile(dir=folder) as stream:
        spilled = _Spilled(stream)
        for batch, words in _split_ahead(_batches(documents)):
            counted = vocabulary.count(words)
            spilled.add(counted, len(doc_ids))
            doc_ids += [document.doc_id for document in batch]
            groups += [document.group for document in batch]
            lengths.append(counted.lengths)
            bar.update(len(batch))
        _write_postings(vocabulary.terms, spilled, folder)
    with atomic_write(folder / "lengths.npy") as stream:
        np.save(stream, np.concatenate(lengths))
    for name, values in (("doc_ids", doc_ids), ("groups", groups)):
        write_text(folder / f"{name}.json", json.dumps(values, ensure_ascii=False))


def _batches(documents: Iterable[Document]) -> Iterator[list[Document]]:
    batch: list[Document] = []
    characters = 0
    for document in documents:
        batch.append(document)
        characters += len(document.content)
        if characters > BATCH:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _split_ahead(batches: Iterable[list[Document]]) -> Iterator[tuple[list[Document], Words]]:
    """Each batch with its words, which a thread finds while the batch before is counted."""
    with ThreadPoolExecutor(1) as pool:
        waiting: deque[tuple[list[Document], Future[Words]]] = deque()
        for batch in batches:
            waiting.append((batch, pool.submit(split, [d.content for d in batch])))
            if len(waiting) > 1:
                former, words = waiting.popleft()
                yield former, words.result()
        for last, words in waiting:
            yield last, words.result()


class _Spilled:
    """Postings of batch after batch, kept on disk."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._sizes, self.highest = stream, list[int](), 1

    def add(self, counted: Counted, first: int) -> None:
        """Keep a batch whose first piece has the number ``first``."""
        for array in (counted.terms, counted.texts + first, counted.counts):
            array.astype(np.int32).tofile(self._stream)
        self._sizes.append(len(counted.terms))
        self.highest = max(self.highest, int(counted.counts.max(initial=1)))

    def __iter__(self) -> Iterator[NDArray[np.int32]]:
        """Terms, pieces and counts of each batch, shape (3, postings)."""
        self._stream.seek(0)
        for size in self._sizes:
            yield np.fromfile(self._stream, np.int32, 3 * size).reshape(3, size)


def _write_postings(terms: list[str], spilled: _Spilled, folder: Path) -> None:
    order = sorted(range(len(terms)), key=terms.__getitem__)
    frequencies = np.zeros(len(terms), np.int64)
    for of_term, _, _ in spilled:
        frequencies += np.bincount(of_term, minlength=len(terms))
    starts = np.concatenate(([0], np.cumsum(frequencies[order])))
    free = np.empty(len(terms), np.int64)
    free[order] = starts[:-1]
    write_text(folder / "terms.txt", "\n".join([*map(terms.__getitem__, order), ""]))
    with atomic_write(folder / "starts.npy") as stream:
        np.save(stream, starts)
    size, smallest = int(starts[-1]), np.min_scalar_type(spilled.highest)
    with (
        _array(folder / "pieces.npy", size, np.dtype(np.int32)) as pieces,
        _array(folder / "counts.npy", size, smallest) as counts,
    ):
        for of_term, of_piece, count in spilled:
            places = _places(of_term, free)
            pieces[places], counts[places] = of_piece, count


def _places(terms: NDArray[np.int32], free: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the postings of a batch go; moves ``free``, the next place of each term."""
    firsts = np.flatnonzero(np.diff(terms, prepend=-1))
    sizes = np.diff(firsts, append=len(terms))
    places = np.arange(len(terms)) + np.repeat(free[terms[firsts]] - firsts, sizes)
    free[terms[firsts]] += sizes
    return places


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
