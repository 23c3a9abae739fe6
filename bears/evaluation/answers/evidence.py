"""Find the document that a piece of evidence names, by its id or by its text."""

from collections.abc import Callable, Collection
from functools import cache

from bears.language.overlap import Chunks
from bears.types import Document

FLOAT = "FLOAT SELECTED"
SECTION = " ::: "
"""Part of the name of a section, which annotators sometimes gave as evidence."""
Find = Callable[[str, str], str | None]
"""Return the id of the document that evidence names, given the group of its question, or None."""


def finder(documents: Collection[Document]) -> Find:
    """Return a function that finds the document with an id, or in a group the one with a text.

    Among documents that were read from PDFs, it finds the one with most of the text.
    """
    ids = {document.doc_id for document in documents}
    places = {(document.group, plain(document.content)): document.doc_id for document in documents}
    from_pdf: dict[str, list[Document]] = {}
    for document in documents:
        if ":pdf:" in document.doc_id:
            from_pdf.setdefault(document.group, []).append(document)

    @cache
    def chunks(group: str) -> Chunks:
        return Chunks([document.content for document in from_pdf[group]])

    def find(group: str, evidence: str) -> str | None:
        text = plain(plain(evidence).removeprefix(FLOAT).removeprefix(":"))
        if evidence in ids or group not in from_pdf:
            return evidence if evidence in ids else places.get((group, text))
        position = chunks(group).holding_most_of(text)
        return None if position is None else from_pdf[group][position].doc_id

    return find


def plain(text: str) -> str:
    """Replace white space in ``text`` by single spaces, to compare paragraphs."""
    return " ".join(text.split())
