"""Dense retrieval: an encoder in front of a vector store."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from operator import length_hint
from pathlib import Path
from typing import Any, NoReturn

from tqdm import tqdm

from bears.errors import ConfigurationError, StoreError
from bears.retrieval.clock import Clock
from bears.retrieval.encoder import Encoder
from bears.retrieval.engine import Engine
from bears.retrieval.engines.local import Local
from bears.retrieval.retriever import Query
from bears.retrieval.shards import Kept, batches
from bears.retrieval.vector_store import Shard, VectorSearcher, VectorStore
from bears.types import Document, Ranking

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class Dense:
    """Nearest vectors by cosine.

    Args:
        name: of the file under conf/retriever.
        encoder: texts to vectors.
        vector_store: where the vectors lie.
        engine: what runs the encoder; none: this process.
        shard_size: pieces that are encoded, kept and stored together. Memory and what a killed
            run loses grow with it.

    Raises:
        ConfigurationError: the shard size is not positive.
    """

    def __init__(
        self,
        name: str,
        encoder: Encoder,
        vector_store: VectorStore,
        engine: Engine | None = None,
        shard_size: int = 2_000,
    ) -> None:
        if shard_size < 1:
            raise ConfigurationError(f"retriever.shard_size is {shard_size}; expected at least 1")
        self.name, self._shard_size = name, shard_size
        self.encoder, self.vector_store, self._engine = encoder, vector_store, engine or Local()

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Encode and store shard by shard.

        The vectors of each finished shard are kept under ``scratch`` until the index is complete,
        so a run that was killed goes on from there.

        Raises:
            StoreError: a disk is full; what was encoded is kept.
        """
        kept = Kept(scratch, self.encoder.identity)
        bar = tqdm(
            total=length_hint(documents) or None, unit=" pieces", unit_scale=True, disable=None
        )
        cut = batches(documents, self._shard_size)
        encoded = _Counted(bar)
        try:
            with bar, closing(self._engine.shards(cut, self.encoder, kept)) as shards:
                self.vector_store.write(encoded.each(shards), folder)
        except OSError as error:
            if error.errno not in FULL:
                raise
            raise _full(error, folder, encoded.pieces, kept.folder) from None
        else:
            kept.remove()
        finally:
            kept.close()

    def open(self, folder: Path) -> DenseSearcher:
        """Open the store and load the model."""
        self.encoder.load()
        return DenseSearcher(self.encoder, self.vector_store.open(folder))

    def storing_in(self, store: VectorStore) -> Dense:
        """The same retriever with its vectors in another store."""
        return Dense(self.name, self.encoder, store, self._engine, self._shard_size)


class _Counted:
    """Pieces that went by; a bar that is not shown does not count."""

    def __init__(self, bar: tqdm[NoReturn]) -> None:
        self._bar, self.pieces = bar, 0

    def each(self, shards: Iterable[Shard]) -> Iterator[Shard]:
        for shard in shards:
            self.pieces += len(shard.doc_ids)
            self._bar.update(len(shard.doc_ids))
            yield shard


def _full(error: OSError, folder: Path, pieces: int, kept: Path) -> StoreError:
    return StoreError(
        f"no space left for the index: {error.strerror} at {error.filename or folder}. "
        f"{pieces:,} pieces are encoded and kept in {kept}. Make space, then run the same again: "
        "it goes on from there. docs/scale.md says how much is needed"
    )


class DenseSearcher:
    """A store and the model that its vectors came from."""

    def __init__(self, encoder: Encoder, store: VectorSearcher) -> None:
        self._encoder, self._store = encoder, store

    def search(self, query: Query, k: int, clock: Clock) -> Ranking:
        """The ``k`` documents of highest cosine."""
        with clock("encode"):
            vector = self._encoder.questions([query.text])[0]
        with clock("search"):
            return self._store.nearest(vector, k, query.group)

    def exactness(self, texts: Sequence[str], k: int) -> dict[str, Any]:
        """Whether the search finds all it should, as `VectorSearcher.exactness` says it."""
        return self._store.exactness(self._encoder.questions(texts), k)
