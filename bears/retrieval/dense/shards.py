"""Shards of chunks, and the vectors of a run that has not ended: what is resumed from."""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from io import BytesIO
from itertools import count, islice
from pathlib import Path
from typing import Any

import numpy as np

from bears.formats.records import atomic_write
from bears.retrieval.cut import Cut
from bears.retrieval.models.encoder import CALLED, Vectors, check_vectors
from bears.retrieval.stores.vector_store import Shard
from bears.types import Document

COUNTS = [field.name for field in fields(Cut)[1:]]
DIGEST = hashlib.sha256().digest_size
"""Bytes at the end of a kept file: the digest of those before, so that no damage is taken for what
a model said."""

LEFT_ALONE = 30 * 24 * 3600
"""Seconds after which what a run kept is removed by another one."""


@dataclass(frozen=True, slots=True)
class TextShard:
    """A `Shard` before its vectors are there."""

    number: int
    doc_ids: tuple[str, ...]
    groups: tuple[str, ...]
    texts: tuple[str, ...]


def text_shards(documents: Iterable[Document], size: int) -> Iterator[TextShard]:
    """Shards of ``size`` chunks, in order; the last one may be smaller."""
    chunks = ((document.doc_id, document.group, document.content) for document in documents)
    for number in count():
        if not (some := list(islice(chunks, size))):
            return
        yield TextShard(number, *zip(*some, strict=True))


class ShardCache:
    """Files of one run under ``scratch``, named by what they are made from.

    So a changed text, id, group or model never meets an old vector, a run that goes on from a
    killed one finds its files, and two runs of the same at the same time may share them.

    Args:
        scratch: the folder that `Retriever.index` is given.
        identity: `Encoder.identity`.

    Attributes:
        folder: where the files lie.
        chunks: that this run has found or kept.
    """

    def __init__(self, scratch: Path, identity: Mapping[str, Any]) -> None:
        self._identity = json.dumps(identity, sort_keys=True, ensure_ascii=False).encode()
        self._files: list[Path] = []
        self.folder, self.chunks = scratch / "vectors", 0

    def find(self, batch: TextShard) -> Shard | None:
        """The batch with the vectors that are kept; None where there are none."""
        file = self._file(batch)
        self._files.append(file)
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            return None
        arrays, digest = BytesIO(content[:-DIGEST]), content[-DIGEST:]
        if hashlib.sha256(arrays.getbuffer()).digest() != digest:
            return None
        vectors = np.load(arrays)
        try:
            counts = np.load(arrays).tolist()
        except EOFError:  # A former version kept the vectors alone.
            return None
        return self._shard(batch, vectors, Cut(CALLED["document"], *counts))

    def keep(self, batch: TextShard, vectors: Vectors, cut: Cut) -> Shard:
        """Keep what `encoded` gives for a batch; returns it as a shard.

        Args:
            batch: the texts.
            vectors: shape (chunks, dimensions).
            cut: how much of the texts is not in them.

        Raises:
            VectorError: one of the vectors cannot be used.
        """
        names = [f"the document {doc_id}" for doc_id in batch.doc_ids]
        check_vectors(vectors, batch.texts, names)
        # Through a buffer: into a file NumPy writes by itself, and does not say why it failed.
        content = BytesIO()
        np.save(content, vectors)
        np.save(content, [getattr(cut, name) for name in COUNTS])
        with atomic_write(self._file(batch)) as stream:
            stream.write(content.getbuffer())
            stream.write(hashlib.sha256(content.getbuffer()).digest())
        return self._shard(batch, vectors, cut)

    def remove(self) -> None:
        """Remove what this run looked for, and what others kept a month ago."""
        for file in self._files:
            file.unlink(missing_ok=True)
        for file in self.folder.rglob("*.npy"):
            with suppress(FileNotFoundError):  # Another run may remove the same.
                if time.time() - file.stat().st_mtime > LEFT_ALONE:
                    file.unlink()

    def _shard(self, batch: TextShard, vectors: Vectors, cut: Cut) -> Shard:
        self.chunks += len(batch.texts)
        rows = np.asarray(vectors, np.float32)
        return Shard(batch.number, batch.doc_ids, batch.groups, batch.texts, rows, cut=cut)

    def _file(self, batch: TextShard) -> Path:
        digest = hashlib.sha256(self._identity)
        for column in (batch.doc_ids, batch.groups, batch.texts):
            for value in column:
                encoded = value.encode("utf-8", "surrogatepass")
                digest.update(b"%d:" % len(encoded) + encoded)
        return self.folder / f"{digest.hexdigest()}.npy"
