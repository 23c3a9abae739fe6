"""Which document an evidence names, by its id or by its text."""

from collections.abc import Callable, Collection
from functools import cache

from bears.language.overlap import Chunks
from bears.types import Document

FLOAT = "FLOAT SELECTED"
SECTION = " ::: "
"""What stands in the name of a section, which annotators gave as evidence here and there."""
Find = Callable[[str, str], str | None]
"""The id of the document that an evidence names, given the group of its question; or None."""


def finder(documents: Collection[Document]) -> Find:
    """Finds the document that has an id, or in a group the one that has a text.

    Of documents that were read from PDFs it is the one that has most of the text.
    """
    ids = {document.doc_id for document in documents}
    places = {(document.group, plain(document.content)): document.doc_id for document in documents}
    read: dict[str, list[Document]] = {}
    for document in documents:
        if ":pdf:" in document.doc_id:
            read.setdefault(document.group, []).append(document)

    @cache
    def chunks(group: str) -> Chunks:
        return Chunks([document.content for document in read[group]])

    def find(group: str, evidence: str) -> str | None:
        text = _without_float(evidence)
        if evidence in ids or group not in read:
            return evidence if evidence in ids else places.get((group, text))
        position = chunks(group).holding_most_of(text)
        return None if position is None else read[group][position].doc_id

    return find


def plain(text: str) -> str:
    """``text`` with single spaces, as paragraphs are compared."""
    return " ".join(text.split())


def _without_float(text: str) -> str:
    return plain(plain(text).removeprefix(FLOAT).removeprefix(":"))
