"""Chunks of documents, for documents that are longer than a model reads."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from bears.types import Document


class Chunking(Protocol):
    """Cuts a text into chunks, in order; a text always gives at least one."""

    def split(self, text: str) -> list[str]:
        """Return the chunks of ``text``."""


class NoChunking:
    """Keep each document as its only chunk."""

    def split(self, text: str) -> list[str]:
        """Return the text as its only chunk."""
        return [text]


def chunks(documents: Iterable[Document], chunking: Chunking) -> Iterator[Document]:
    """Yield the chunks of every document in order, under its doc_id.

    Later documents with an id that came before are left out.
    """
    seen: set[str] = set()
    for document in documents:
        if document.doc_id not in seen:
            seen.add(document.doc_id)
            for text in chunking.split(document.content):
                yield replace(document, content=text)
