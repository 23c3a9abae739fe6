"""Chunks: the ranges of a document that are indexed by themselves."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from bears.types import Chunk, Document

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


def chunks(documents: Iterable[Document], chunking: Chunking) -> Iterator[Document]:
    """Yield the chunks of every document in order, each as a document of its own.

    The id of a chunk is that of a `bears.types.Chunk`; a chunk that is the whole document has the
    document's id. Later documents with an id that came before are left out.
    """
    seen: set[str] = set()
    for document in documents:
        if document.doc_id not in seen:
            seen.add(document.doc_id)
            yield from cut(document, chunking)


def cut(document: Document, chunking: Chunking) -> Iterator[Document]:
    """Yield the chunks of one document; see `chunks`."""
    text = document.content
    for start, end in chunking.ranges(text):
        yield document if end - start == len(text) else _part(document, start, end)


def parts_of(documents: Iterable[Document], names: Collection[str]) -> dict[str, Document]:
    """Return the documents and chunks with these ids, those that are there."""
    parts: dict[str, list[Chunk]] = {}
    for name in names:
        if chunk := Chunk.named(name):
            parts.setdefault(chunk.doc_id, []).append(chunk)
    found: dict[str, Document] = {}
    for document in documents:
        if document.doc_id in names:
            found[document.doc_id] = document
        for chunk in parts.get(document.doc_id, ()):
            found.setdefault(str(chunk), _part(document, chunk.start, chunk.end))
    return found


def _part(document: Document, start: int, end: int) -> Document:
    name = str(Chunk(document.doc_id, start, end))
    return replace(document, doc_id=name, content=document.content[start:end])
