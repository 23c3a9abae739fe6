"""Chunks of documents: what is indexed where a document is longer than a model reads."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from bears.types import Document


class Chunking(Protocol):
    """Cuts a text into chunks, in order; a text always gives at least one."""

    def split(self, text: str) -> list[str]:
        """The chunks of ``text``."""


class NoChunking:
    """No cutting: a document is its one chunk."""

    def split(self, text: str) -> list[str]:
        """The text."""
        return [text]


def chunks(documents: Iterable[Document], chunking: Chunking) -> Iterator[Document]:
    """The chunks of every document, one document after the other, with its own doc_id.

    A document whose id came before is left out.
    """
    seen: set[str] = set()
    for document in documents:
        if document.doc_id not in seen:
            seen.add(document.doc_id)
            for text in chunking.split(document.content):
                yield replace(document, content=text)
