"""Hosted embeddings that were paid for: a journal for each model and kind of text.

A line of `bears.files.journal` holds the key and the float32 values in base64: 8.4 KB for 1,536
dimensions, where the bare values take 6.1. In return, one journal format handles kills, torn lines,
flipped bits and several writers, and a person can remove lines or copy them to another machine.
Only the places of the vectors are held in memory.
"""

import hashlib
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import FormatError
from bears.files.journal import Journal
from bears.files.shown import complain
from bears.retrieval.vectors import Vectors

Keep = Callable[[str, Vectors], "Future[None]"]


class VectorJournal:
    """The vectors of one model, dimensions and kind of text.

    Args:
        folder: of all such journals; created by the first `filling`.
        model: its name at the provider.
        dimensions: of each vector.
        kind: ``document`` or ``question``.
    """

    def __init__(self, folder: Path, model: str, dimensions: int, kind: str) -> None:
        name = f"{model.replace('/', '--')}-{dimensions}.{kind}.jsonl"
        self._parts = {"model": model, "dimensions": dimensions, "kind": kind}
        self._dimensions = dimensions
        self._journal = Journal(folder / name)
        self._places: dict[str, int] = {}
        self._read_to = 0
        self._damaged = False

    def missing(self, texts: Iterable[str]) -> list[str]:
        """Return the texts whose vectors neither this process nor another one has kept.

        Warns if the journal has damaged lines, which may be the reason.
        """
        keys = {text: self._key(text) for text in texts}
        if not self._places.keys() >= set(keys.values()):
            self.refresh()
        missing = [text for text, key in keys.items() if key not in self._places]
        if missing and self._damaged:
            complain(
                f"{self._journal.path} has lines that are damaged or hold no vector that can be "
                "used (zeros, NaN, another length); they are skipped"
            )
            self._damaged = False
        return missing

    def refresh(self) -> None:
        """Read the lines that this process or another one has added since the last time."""
        for place, row in self._journal.places(self._read_to):
            if self._vector(row) is not None:
                self._places[row["key"]] = place
            else:
                self._damaged = True
            self._read_to = place
        self._damaged |= bool(self._journal.damaged)

    def vectors(self, texts: Collection[str]) -> Vectors:
        """Return the vectors of texts that are kept, as they came, shape (texts, dimensions).

        Raises:
            FormatError: the file was changed by hand in the meantime.
        """
        vectors = np.empty((len(texts), self._dimensions), np.float32)
        keys = [self._key(text) for text in texts]
        places = [self._places[key] for key in keys]
        for number, row in enumerate(self._journal.at(places)):
            vector = self._vector(row)
            if vector is None or row["key"] != keys[number]:
                raise FormatError(
                    f"{self._journal.path}, byte {places[number]}: changed while it was read; "
                    "start again"
                )
            vectors[number] = vector
        return vectors

    def _vector(self, row: Mapping[str, Any]) -> Vectors | None:
        """Return the vector of a row, shape (dimensions,); None if it cannot be used."""
        try:
            vector = np.frombuffer(b64decode(row["vector"], validate=True), "<f4")
        except (KeyError, TypeError, ValueError):
            return None
        usable = vector.shape == (self._dimensions,) and np.isfinite(vector).all() and vector.any()
        return vector if usable and isinstance(row.get("key"), str) else None

    @contextmanager
    def filling(self) -> Iterator[Keep]:
        """Lock the journal, so that no other process buys the same vectors.

        Yields a function that keeps the vector of a text; its future is done once the vector is on
        disk. All are on disk, and known here, when the block ends.

        Raises:
            OSError: the journal cannot be written.
        """
        with self._journal.exclusive():
            try:
                with self._journal.writer() as append:
                    yield lambda text, vector: append(
                        {
                            "key": self._key(text),
                            "vector": b64encode(vector.astype("<f4").tobytes()).decode(),
                        }
                    )
            finally:
                self.refresh()

    def _key(self, text: str) -> str:
        """Return the sha256 over model, dimensions, kind and text."""
        parts = {**self._parts, "text": text}
        canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode("ascii")).hexdigest()
