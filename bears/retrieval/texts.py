"""Texts of documents, found by id: for what reads them again after a search."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterable, Iterator
from operator import length_hint
from pathlib import Path

import numpy as np

from bears.errors import FormatError
from bears.formats.records import atomic_write, to_line
from bears.types import Document

LINES, KEYS, STARTS = "texts.jsonl", "keys.npy", "starts.npy"
MISSING = (
    "the index lacks the text of {!r}; it was changed or not written whole. Make it again: "
    "`dvc repro --force index`"
)


class Recorded:
    """Documents that are written down as they are read, once.

    16 bytes of each document are held in memory. Nothing is there under its final name before
    `finish`.

    Args:
        documents: pieces of one document follow one another.
        folder: where the texts go.
    """

    def __init__(self, documents: Iterable[Document], folder: Path) -> None:
        self._documents, self._folder = documents, folder
        self._keys, self._starts = array("Q"), array("q")

    def __length_hint__(self) -> int:
        return length_hint(self._documents)

    def __iter__(self) -> Iterator[Document]:
        position, last = 0, None
        with atomic_write(self._folder / LINES) as stream:
            for document in self._documents:
                line = to_line({"doc_id": document.doc_id, "text": document.content}).encode()
                if document.doc_id != last:
                    self._keys.append(_key(document.doc_id))
                    self._starts.append(position)
                    last = document.doc_id
                stream.write(line)
                position += len(line)
                yield document

    def finish(self) -> None:
        """Write where each document's lines begin, in the order of its key."""
        keys = np.array(self._keys, np.uint64)
        order = np.argsort(keys, kind="stable")
        for name, values in ((KEYS, keys), (STARTS, np.array(self._starts, np.int64))):
            with atomic_write(self._folder / name) as stream:
                np.save(stream, values[order])


class Texts:
    """The texts that `Recorded` wrote; only what is asked for is read.

    Raises:
        FormatError: a file is missing.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._stream = (folder / LINES).open("rb")
            self._keys = np.load(folder / KEYS, mmap_mode="r")
            self._starts = np.load(folder / STARTS, mmap_mode="r")
        except FileNotFoundError as error:
            raise FormatError(f"{error.filename}: no such file; make the index again") from None

    def __del__(self) -> None:
        if stream := getattr(self, "_stream", None):
            stream.close()

    def pieces(self, doc_id: str) -> list[str]:
        """The texts of a document's pieces, in order.

        Raises:
            FormatError: there is no such document.
        """
        key = _key(doc_id)
        at = int(np.searchsorted(self._keys, np.uint64(key)))
        while at < len(self._keys) and self._keys[at] == key:
            if found := self._read(int(self._starts[at]), doc_id):
                return found
            at += 1  # another document of the same key
        raise FormatError(MISSING.format(doc_id))

    def _read(self, start: int, doc_id: str) -> list[str]:
        self._stream.seek(start)
        texts = []
        for line in iter(self._stream.readline, b""):
            row = json.loads(line)
            if row["doc_id"] != doc_id:
                break
            texts.append(row["text"])
        return texts


def _key(doc_id: str) -> int:
    digest = hashlib.blake2b(doc_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
