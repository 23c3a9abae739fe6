"""Passages as systems return them, recognized by what their objects offer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

from bears.errors import FormatError

SOURCES = ("source", "file_path", "path", "url", "file_name", "filename")
"""Names of metadata that say which file a passage is from, the surest first."""


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage that a system returned; what it does not say is empty.

    Args:
        id: of the document or the chunk, or a word of the system's own.
        source: a path or a name of the document.
        text: of the passage.
        start: its first character in the document, if the system knows it.
    """

    id: str = ""
    source: str = ""
    text: str = ""
    start: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system replied to one question.

    Args:
        passages: best first.
        answer: None if it only searches.
        asked: when, in UTC.
        seconds: that it took.
    """

    passages: tuple[Passage, ...]
    answer: str | None = None
    asked: str = ""
    seconds: float | None = None


def asking(system: Any) -> Callable[[str], Any] | None:
    """Return the function that asks a system; None if it offers none.

    These offer one: a retriever of LangChain (``invoke``), of LlamaIndex (``retrieve``) or of
    PyTerrier (``search`` and ``transform``), and whatever can be called.
    """
    if callable(getattr(system, "transform", None)) and callable(getattr(system, "search", None)):
        return lambda question: system.search(question)
    for method in ("invoke", "retrieve"):
        if callable(found := getattr(system, method, None)):
            return lambda question: found(question)
    return system if callable(system) else None


def has_passages(found: Any) -> bool:
    """Return whether a reply has passages, and is not a ranking of ids."""
    if _is_table(found) or _has_answer(found):
        return True
    return isinstance(found, list | tuple) and any(map(_is_passage, found))


def reply_of(found: Any) -> Reply:
    """Return what a system replied.

    A system that answers returns ``{"answer": …, "passages": …}``. The answer may cite passages, as
    ``[1]`` or ``[CITE:1]``. A list is the passages of a system that only searches.

    Raises:
        FormatError: the reply has another form.
    """
    if not _has_answer(found):
        return Reply(_passages(found))
    answer = found["answer"]
    if not isinstance(answer, str):
        raise FormatError(f"a system returned the answer {answer!r:.80}; expected a text")
    return Reply(_passages(found.get("passages") or []), answer)


def _has_answer(found: Any) -> bool:
    return isinstance(found, Mapping) and "answer" in found


def _is_table(found: Any) -> bool:
    return hasattr(found, "to_dict") and hasattr(found, "columns")


def _is_passage(item: Any) -> bool:
    match item:
        case str():  # An id has no white space.
            return any(map(str.isspace, item.strip()))
        case Mapping() | (str(), str()):
            return True
    return any(hasattr(item, name) for name in ("page_content", "node", "get_content"))


def _passages(found: Any) -> tuple[Passage, ...]:
    """Return the passages of a reply, best first.

    Args:
        found: texts, pairs (source, text), mappings with ``id``, ``source``, ``text``, ``score``,
            documents of LangChain, nodes of LlamaIndex, or a table of PyTerrier.

    Raises:
        FormatError: it has another form.
    """
    if _is_table(found):
        rows = found.to_dict("records")
        return tuple(
            Passage(str(row.get("docno", "")), text=str(row.get("text", ""))) for row in rows
        )
    if isinstance(found, str | Mapping) or not isinstance(found, Iterable):
        raise _unknown(found)
    return tuple(map(_passage, found))


def _passage(item: Any) -> Passage:
    match item:
        case str():
            return Passage(id=item, text=item)
        case (str(source), str(text)):
            return Passage(source=source, text=text)
        case (str(name), Real()):
            return Passage(id=name)
        case Mapping() if any(isinstance(item.get(key), str) for key in ("id", "source", "text")):
            start = item.get("start")
            name, source, text = (str(item.get(key) or "") for key in ("id", "source", "text"))
            return Passage(name, source, text, start if isinstance(start, int) else None)
    return _of_node(item)


def _of_node(item: Any) -> Passage:
    """Return a document of LangChain, or a node of LlamaIndex with or without its score."""
    node = getattr(item, "node", item)
    metadata = getattr(node, "metadata", None)
    text = getattr(node, "page_content", None)
    if text is None and callable(content := getattr(node, "get_content", None)):
        text = content()
    if not isinstance(text, str) or not isinstance(metadata, Mapping):
        raise _unknown(item)
    start = getattr(node, "start_char_idx", None)
    start = metadata.get("start_index") if start is None else start
    name = getattr(node, "id", None) or getattr(node, "node_id", None) or ""
    source = next((str(metadata[key]) for key in SOURCES if metadata.get(key)), "")
    return Passage(str(name), source, text, start if isinstance(start, int) else None)


def _unknown(found: Any) -> FormatError:
    return FormatError(
        f"a system returned {found!r:.80}; expected a list of texts, of pairs (source, text), of "
        "mappings with id, source or text, or of documents of LangChain or LlamaIndex"
    )
