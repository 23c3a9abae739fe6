"""Chunks: the ranges of a document that are indexed by themselves."""

from collections.abc import Collection, Iterable, Iterator
from typing import Protocol

from bears.types import Chunk, Document, IndexedChunk

Range = tuple[int, int]
"""The first character of a chunk, and the one after its last."""


class Chunking(Protocol):
    """Cuts a text into chunks."""

    def ranges(self, text: str) -> list[Range]:
        """Return the ranges of ``text``, in order and at least one; they may overlap."""


class NoChunking:
    """Keep each document as its only chunk."""

    def ranges(self, text: str) -> list[Range]:
        """Return the range of the whole text."""
        return [(0, len(text))]


def chunks(documents: Iterable[Document], chunking: Chunking) -> Iterator[IndexedChunk]:
    """Yield the chunks of every document in order, each as a document of its own.

    Later documents with an id that came before are left out.
    """
    seen: set[str] = set()
    for document in documents:
        if document.doc_id not in seen:
            seen.add(document.doc_id)
            yield from cut(document, chunking)


def cut(document: Document, chunking: Chunking) -> Iterator[IndexedChunk]:
    """Yield the chunks of one document; see `chunks`."""
    doc_id, text = document.doc_id, document.content
    # The id of a whole document could be the name of a chunk of another one.
    named = "#" in doc_id and not isinstance(chunking, NoChunking)
    origin = document.original_source, document.original_id, document.is_gold, document.group
    for start, end in chunking.ranges(text):
        whole = end - start == len(text) and not named
        chunk = Chunk(doc_id) if whole else Chunk(doc_id, start, end)
        yield IndexedChunk(chunk.name, chunk.of(text), *origin, chunk)


def texts_of(documents: Iterable[Document], chunks_: Collection[Chunk]) -> dict[Chunk, str]:
    """Return the texts of these chunks, of those that are there."""
    wanted: dict[str, list[Chunk]] = {}
    for chunk in chunks_:
        wanted.setdefault(chunk.doc_id, []).append(chunk)
    return {
        chunk: chunk.of(document.content)
        for document in documents
        for chunk in wanted.get(document.doc_id, ())
    }
