"""Pieces of documents: what is indexed where a document is longer than a model reads."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import Protocol

from bears.types import Document


class Chunking(Protocol):
    """Cuts a text into pieces, in order; a text always gives at least one."""

    def split(self, text: str) -> list[str]:
        """The pieces of ``text``."""
        ...


class Whole:
    """No cutting: a document is its one piece."""

    def __init__(self, name: str) -> None:
        self.name = name

    def split(self, text: str) -> list[str]:
        """The text."""
        return [text]


def pieces(documents: Iterable[Document], chunking: Chunking) -> Iterator[Document]:
    """The pieces of every document, one document after the other, with its own doc_id.

    A document whose id came before is left out.
    """
    seen = _Seen()
    for document in documents:
        if seen.add(document.doc_id):
            for text in chunking.split(document.content):
                yield replace(document, content=text)


class _Seen:
    """The ids that came before, in 16 to 32 bytes each: a set of texts takes five times as much.

    An open hash table of 64-bit digests. The odds that any two of n ids share one are n²/2⁶⁵:
    one in 4,000 at a hundred million, one in 400,000 at ten million.
    """

    def __init__(self) -> None:
        self._slots, self._number = array("Q", bytes(8 * 1024)), 0

    def add(self, doc_id: str) -> bool:
        """Remember an id; False where it was there already."""
        encoded = doc_id.encode("utf-8", "surrogatepass")
        # 0 is an empty slot.
        digest = int.from_bytes(blake2b(encoded, digest_size=8).digest(), "little") or 1
        if self._slots[place := self._place(digest)] == digest:
            return False
        self._slots[place] = digest
        self._number += 1
        if 2 * self._number > len(self._slots):
            self._grow()
        return True

    def _place(self, digest: int) -> int:
        place = digest % len(self._slots)
        while self._slots[place] not in (0, digest):
            place = (place + 1) % len(self._slots)
        return place

    def _grow(self) -> None:
        old, self._slots = self._slots, array("Q", bytes(16 * len(self._slots)))
        for digest in filter(None, old):
            self._slots[self._place(digest)] = digest
