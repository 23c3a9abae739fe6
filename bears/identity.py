"""Ids that depend on what a record is, never on when or where it was sampled."""

from uuid import NAMESPACE_DNS, uuid5


def question_id(source: str, upstream_id: str) -> str:
    """Return the id of a question: UUIDv5 of ``q:{source}:{upstream_id}`` in the DNS namespace."""
    return str(uuid5(NAMESPACE_DNS, f"q:{source}:{upstream_id}"))


def document_id(source: str, original_id: str) -> str:
    """Return the id of a document: UUIDv5 of ``{source}:{original_id}`` in the DNS namespace."""
    return str(uuid5(NAMESPACE_DNS, f"{source}:{original_id}"))


def unused_name(wanted: str, names: set[str]) -> str:
    """Return a name for a paragraph whose title its row has with another text already."""
    name, n = wanted, 1
    while name in names:
        n += 1
        name = f"{wanted}#{n}"
    names.add(name)
    return name
