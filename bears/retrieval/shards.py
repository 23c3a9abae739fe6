"""Batches of pieces, and the vectors of a run that has not ended: what is resumed from."""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import count, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from bears.formats.records import atomic_write
from bears.retrieval.encoder import Vectors
from bears.retrieval.vector_store import Shard
from bears.types import Document

LEFT_ALONE = 30 * 24 * 3600
"""Seconds after which what an abandoned run kept is removed."""


@dataclass(frozen=True, slots=True)
class Batch:
    """A `Shard` before its vectors are there."""

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]

    def with_vectors(self, vectors: Vectors) -> Shard:
        """The shard. ``vectors`` has shape (pieces, dimensions)."""
        return Shard(self.number, self.doc_ids, self.groups, self.texts, vectors)


def batches(documents: Iterable[Document], size: int) -> Iterator[Batch]:
    """Batches of ``size`` pieces, in order; the last one may be smaller."""
    rest = iter(documents)
    number = 0
    while some := list(islice(rest, size)):
        yield Batch(
            number,
            tuple(document.doc_id for document in some),
            tuple(document.group for document in some),
            tuple(document.content for document in some),
        )
        number += 1


class Kept:
    """Files of one run under ``scratch``, named by what they are made from.

    So a changed text, id, group or model never meets an old vector. The folder is named by the
    model and the first batch, and locked: a run that goes on from a killed one finds it, and two
    runs at the same time never share one.

    Args:
        scratch: the folder that `Retriever.index` is given.
        identity: `Encoder.identity`.
    """

    def __init__(self, scratch: Path, identity: Mapping[str, Any]) -> None:
        self._identity = json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        self._above = scratch / "vectors"
        self._lock: IO[bytes] | None = None
        self._folder = self._above

    @property
    def folder(self) -> Path:
        """Where the files lie, once there is a first one."""
        return self._folder

    def vectors_of(self, batch: Batch) -> Path:
        """Where the vectors of ``batch`` lie, or will."""
        digest = hashlib.sha256(self._identity)
        for column in (batch.doc_ids, batch.groups, batch.texts):
            for value in column:
                encoded = value.encode("utf-8", "surrogatepass")
                digest.update(b"%d:" % len(encoded) + encoded)
        name = digest.hexdigest()
        if self._lock is None:
            self._claim(name[:32])
        return self._folder / f"{name}.npy"

    def close(self) -> None:
        """Leave the files to a later run."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def remove(self) -> None:
        """Remove what this run kept, and what abandoned runs left a month ago."""
        if self._lock is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        self.close()
        for folder in self._above.glob("*"):
            if time.time() - folder.stat().st_mtime > LEFT_ALONE:
                shutil.rmtree(folder, ignore_errors=True)

    def _claim(self, name: str) -> None:
        """Lock the first folder of this name that no other run has."""
        for number in count():
            folder = self._above / f"{name}-{number}"
            folder.mkdir(parents=True, exist_ok=True)
            lock = (folder / "lock").open("ab")
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                lock.close()
                continue
            self._folder, self._lock = folder, lock
            return


def read_vectors(file: Path, pieces: int) -> Vectors | None:
    """The vectors of a finished batch, shape (pieces, dimensions); None where there are none."""
    try:
        vectors = np.load(file)
    except (FileNotFoundError, ValueError, EOFError):
        return None
    return np.asarray(vectors, np.float32) if len(vectors) == pieces else None


def write_vectors(file: Path, vectors: Vectors) -> None:
    """Keep the vectors of a finished batch."""
    # Through a buffer: into a file NumPy writes by itself, and does not say why it failed.
    content = BytesIO()
    np.save(content, vectors)
    with atomic_write(file) as stream:
        stream.write(content.getbuffer())
