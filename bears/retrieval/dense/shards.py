"""Shards of chunks, and the kept vectors that the next run of a model need not compute again."""

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.cut import Cut
from bears.retrieval.vectors import CALLED, Encoded, Shard, TextShard, check_vectors
from bears.types import Document

KEY = hashlib.sha256().digest_size
SHORT = 8
"""Bytes of a key that are held in memory; the whole key is compared on disk."""

Rows = dict[str, Any]
"""Texts, each with its kept row: ``vector``, and ``tokens`` and ``unread`` of `Encoded`."""

LEFT_ALONE = 30 * 24 * 3600
"""Seconds without use after which kept vectors are removed."""


def missing(shard: TextShard, rows: Rows) -> list[str]:
    """Return the texts of a shard that are not among ``rows``, each once."""
    return [text for text in dict.fromkeys(shard.texts) if text not in rows]


def with_vectors(shard: TextShard, rows: Rows) -> Shard:
    """Return a shard with the vectors of its texts."""
    mine = [rows[text] for text in shard.texts]
    vectors = np.array([row["vector"] for row in mine], np.float32)
    tokens, unread = ([int(row[name]) for row in mine] for name in ("tokens", "unread"))
    cut = Cut.of(CALLED["document"], max(tokens), map(len, shard.texts), unread)
    return Shard(shard.number, shard.doc_ids, shard.groups, shard.texts, vectors, cut)


def text_shards(documents: Iterable[Document], size: int) -> Iterator[TextShard]:
    """Yield shards of ``size`` chunks, in order; the last one may be smaller."""
    chunks = ((document.doc_id, document.group, document.content) for document in documents)
    for number in count():
        if not (some := list(islice(chunks, size))):
            return
        yield TextShard(number, *zip(*some, strict=True))


class VectorCache:
    """The vectors of one model, each kept by the digest of its text.

    Each run appends to a file of its own, so that runs share the folder without locks, and a kill
    costs only the block that was being encoded. Every row has a checksum. A run finds the vectors
    that earlier runs kept.

    Args:
        scratch: the folder given to `Retriever.index`.
        identity: `Encoder.identity`; each identity has a folder of its own.
        progress: called with the number of chunks that were just found or kept.

    Attributes:
        folder: where the files are.
    """

    def __init__(
        self,
        scratch: Path,
        identity: Mapping[str, Any],
        progress: Callable[[int], object] = lambda _: None,
    ) -> None:
        written = json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        self._all, self._progress = scratch / "vectors", progress
        self.folder = self._all / hashlib.sha256(written).hexdigest()
        self._own: IO[bytes] | None = None

    def find(self, texts: Iterable[str]) -> Rows:
        """Return those of the texts whose vectors are kept."""
        keys = {_key(text): text for text in texts}
        short = np.array([int.from_bytes(key[:SHORT], "little") for key in keys], np.uint64)
        names, rows = list(keys), Rows()
        for part in self._parts:
            places = np.searchsorted(part.beginnings, short)
            places[places == len(part.order)] = 0
            for number in np.flatnonzero(part.beginnings[places] == short).tolist():
                row, key = part.rows[part.order[places[number]]], names[number]
                if row["key"].tobytes() == key and row["sum"] == _sum(row):
                    rows[keys[key]] = row
        self._progress(len(rows))
        return rows

    def keep(self, shard: TextShard, texts: Sequence[str], encoded: Encoded) -> Rows:
        """Append the vectors of some texts of a shard.

        Raises:
            VectorError: one of the vectors cannot be used; none of them is kept.
        """
        names = dict(zip(reversed(shard.texts), reversed(shard.doc_ids), strict=True))
        check_vectors(encoded.vectors, texts, [f"the document {names[text]}" for text in texts])
        rows = np.zeros(len(texts), _row(encoded.vectors.shape[1]))
        rows["key"] = np.frombuffer(b"".join(map(_key, texts)), np.uint8).reshape(-1, KEY)
        rows["vector"], rows["tokens"] = encoded.vectors, encoded.tokens
        rows["unread"] = encoded.unread
        rows["sum"] = [_sum(row) for row in rows]
        self._append(rows)
        self._progress(len(texts))
        return dict(zip(texts, rows, strict=True))

    def close(self) -> None:
        """Close this run's file."""
        if self._own:
            self._own.close()

    def remove_unused(self) -> None:
        """Remove the files that no run has used for `LEFT_ALONE`."""
        for file in [path for path in self._all.rglob("*") if path.is_file()]:
            with suppress(FileNotFoundError):  # Another run may remove it too.
                if time.time() - file.stat().st_mtime > LEFT_ALONE:
                    file.unlink()

    @cached_property
    def _parts(self) -> list["_Part"]:
        return list(map(_Part.read, sorted(self.folder.glob("*.vectors"))))

    def _append(self, rows: NDArray[Any]) -> None:
        if self._own is None:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = self.folder / f"{uuid4().hex}.{rows['vector'].shape[1]}.vectors"
            self._own = path.open("wb", buffering=0)
        content = memoryview(rows.tobytes())
        while content:
            content = content[self._own.write(content) :]


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of a file, found by the beginnings of their keys."""

    rows: NDArray[Any]
    beginnings: NDArray[np.uint64]
    order: NDArray[np.int64]

    @classmethod
    def read(cls, path: Path) -> "_Part":
        """Map a file, and mark it as used."""
        os.utime(path)
        kind = _row(int(path.suffixes[-2][1:]))
        size = path.stat().st_size // kind.itemsize
        # A file of no bytes cannot be mapped.
        rows = np.memmap(path, kind, "r", shape=(size,)) if size else np.zeros(1, kind)
        short = rows["key"][:, :SHORT].copy().view("<u8")[:, 0]
        order = np.argsort(short)
        return cls(rows, short[order], order)


def _row(dimensions: int) -> np.dtype[Any]:
    vector = ("vector", "<f4", (dimensions,))
    return np.dtype(
        [("key", "u1", KEY), vector, ("tokens", "<u4"), ("unread", "<u4"), ("sum", "<u4")]
    )


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _sum(row: Any) -> int:
    return zlib.crc32(row.tobytes()[: -row["sum"].nbytes])
