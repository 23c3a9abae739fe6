"""Shards of chunks, and the kept vectors that the next run of a model need not compute again."""

import hashlib
import json
import os
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import count, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from bears.files.journal import make_folder, sync_folder
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


def usable(shard: TextShard, texts: Sequence[str], encoded: Encoded) -> Encoded:
    """Return the vectors of some texts of a shard.

    Raises:
        VectorError: one of them cannot be used.
    """
    names = dict(zip(reversed(shard.texts), reversed(shard.doc_ids), strict=True))
    check_vectors(encoded.vectors, texts, [f"the document {names[text]}" for text in texts])
    return encoded


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
    costs only the block that was being encoded. Every row has a checksum, and only rows that fit
    theirs are found: those of other runs, and this run's own once its file is closed.

    Args:
        scratch: the folder given to `Retriever.index`, or that of hosted vectors.
        identity: all that the vectors depend on besides their texts, as plain JSON values; each
            identity has a folder of its own.
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
        self._read: dict[Path, int] = {}
        self._blocks: list[NDArray[Any]] = []
        # Of all rows, by the beginnings of their keys: these, and the block and the row in it.
        self._beginnings, self._places = np.zeros(0, np.uint64), np.zeros((0, 2), np.int32)
        self._own: Path | None = None

    def find(self, texts: Iterable[str]) -> Rows:
        """Return those of the texts whose vectors are kept."""
        keys = {text: _key(text) for text in texts}
        rows = self._known(keys)
        if len(rows) < len(keys):
            self.refresh()
            rows = self._known(keys)
        self._progress(len(rows))
        return rows

    def keep(self, texts: Sequence[str], encoded: Encoded) -> Rows:
        """Append the vectors of some texts; they are on disk when this returns.

        Raises:
            OSError: the disk does not take them.
        """
        rows = np.zeros(len(texts), _row(encoded.vectors.shape[1]))
        rows["key"] = np.frombuffer(b"".join(map(_key, texts)), np.uint8).reshape(-1, KEY)
        rows["vector"], rows["tokens"] = encoded.vectors, encoded.tokens
        rows["unread"] = encoded.unread
        rows["sum"] = [_sum(row) for row in rows]
        self._append(rows)
        self._progress(len(texts))
        return dict(zip(texts, rows, strict=True))

    def close(self) -> None:
        """End this run's file; what is kept later goes to another one."""
        self._own = None

    def refresh(self) -> None:
        """Read which vectors have been kept since the last time."""
        beginnings, places = [self._beginnings], [self._places]
        for path in sorted(self.folder.glob("*.vectors")):
            kind = _row(int(path.suffixes[-2][1:]))
            start, end = self._read.get(path, 0), path.stat().st_size // kind.itemsize
            if path != self._own and start < end:
                os.utime(path)  # It is in use.
                rows = np.memmap(path, kind, "r", start * kind.itemsize, (end - start,))
                beginnings.append(rows["key"][:, :SHORT].copy().view("<u8")[:, 0])
                places.append(np.full((len(rows), 2), len(self._blocks), np.int32))
                places[-1][:, 1] = range(len(rows))
                self._blocks.append(rows)
                self._read[path] = end
        if len(places) > 1:
            unsorted = np.concatenate(beginnings)
            order = np.argsort(unsorted, kind="stable")
            self._beginnings, self._places = unsorted[order], np.concatenate(places)[order]

    def remove_unused(self) -> None:
        """Remove the files that no run has used for `LEFT_ALONE`."""
        for file in [path for path in self._all.rglob("*") if path.is_file()]:
            with suppress(FileNotFoundError):  # Another run may remove it too.
                if time.time() - file.stat().st_mtime > LEFT_ALONE:
                    file.unlink()

    def _known(self, keys: Mapping[str, bytes]) -> Rows:
        """Return the rows of these texts that have been read, and whose checksums fit."""
        short = [int.from_bytes(key[:SHORT], "little") for key in keys.values()]
        asked, rows = np.array(short, np.uint64), Rows()
        firsts = np.searchsorted(self._beginnings, asked).tolist()
        ends = np.searchsorted(self._beginnings, asked, "right").tolist()
        for (text, key), first, end in zip(keys.items(), firsts, ends, strict=True):
            for block, number in self._places[first:end].tolist():
                row = self._blocks[block][number]
                if row["key"].tobytes() == key and row["sum"] == _sum(row):
                    rows[text] = row
        return rows

    def _append(self, rows: NDArray[Any]) -> None:
        own = self._own or self._new_file(rows["vector"].shape[1])
        self._own = None  # A write that fails may leave a part of a row, so its file ends there.
        with own.open("ab", buffering=0) as stream:
            content = memoryview(rows.tobytes())
            while content:
                content = content[stream.write(content) :]
            os.fsync(stream.fileno())
        self._own = own

    def _new_file(self, dimensions: int) -> Path:
        make_folder(self.folder)
        path = self.folder / f"{uuid4().hex}.{dimensions}.vectors"
        path.touch()
        sync_folder(self.folder)
        return path


def _row(dimensions: int) -> np.dtype[Any]:
    vector = ("vector", "<f4", (dimensions,))
    return np.dtype(
        [("key", "u1", KEY), vector, ("tokens", "<u4"), ("unread", "<u4"), ("sum", "<u4")]
    )


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _sum(row: Any) -> int:
    return zlib.crc32(row.tobytes()[: -row["sum"].nbytes])
