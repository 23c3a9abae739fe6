"""Ids that depend on what a record is, never on when or where it was sampled."""

import os
from collections.abc import Iterable
from urllib.parse import unquote
from uuid import NAMESPACE_DNS, uuid5


def question_id(source: str, upstream_id: str) -> str:
    """Return the id of a question: UUIDv5 of ``q:{source}:{upstream_id}`` in the DNS namespace."""
    return str(uuid5(NAMESPACE_DNS, f"q:{source}:{upstream_id}"))


def own_question_id(source: str, turns: Iterable[str], text: str) -> str:
    """Return the id of a question of a folder; ``turns`` are the texts of the turns before it."""
    return question_id(source, "\n".join([*turns, text]))


def document_id(source: str, original_id: str) -> str:
    """Return the id of a document: UUIDv5 of ``{source}:{original_id}`` in the DNS namespace."""
    return str(uuid5(NAMESPACE_DNS, f"{source}:{original_id}"))


def nugget_id(question: str, text: str) -> str:
    """Return the id of a nugget: UUIDv5 of ``n:{question}:{text}`` in the DNS namespace."""
    return str(uuid5(NAMESPACE_DNS, f"n:{question}:{text}"))


def unused_name(wanted: str, names: set[str]) -> str:
    """Return a name for a paragraph whose title its row has with another text already."""
    name, n = wanted, 1
    while name in names:
        n += 1
        name = f"{wanted}#{n}"
    names.add(name)
    return name


def identifier_of(path: str) -> str:
    """Return the id of a file of a folder, from its path within it.

    White space, # and %, and characters that are not visible are written as in addresses
    (``%20``), since an id is one word in a run.
    """
    return "".join(map(_written, path))


def path_of(doc_id: str) -> str:
    """Return the path that `identifier_of` wrote, for people; another id as it is."""
    path = unquote(doc_id)
    return path if identifier_of(path) == doc_id else doc_id


def _written(character: str) -> str:
    if character.isprintable() and not character.isspace() and character not in "#%":
        return character
    # A name that is not UTF-8 gives its bytes.
    return "".join(f"%{byte:02X}" for byte in os.fsencode(character))
