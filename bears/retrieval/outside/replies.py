"""Passages as systems return them, recognized by what their objects offer."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Annotated, Any, TypeVar, cast

from pydantic import Field, ValidationError

from bears.errors import FormatError
from bears.files.records import adapter_of, problems_of
from bears.trace import ModelCall

T = TypeVar("T")

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
class Step:
    """One search of a system, before its passages are matched with documents.

    Args:
        query: empty if it is not known.
        passages: best first; None if the system does not say what it found.
        seconds: None if they are not known.
    """

    query: str
    passages: tuple[Passage, ...] | None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What a system replied to one question.

    Args:
        steps: its searches, in order.
        calls: of models.
        answer: None if it only searches.
        cited: the names of the passages that the answer cites; None: its markers say it.
        confidence: that the answer is right, from 0 to 1; None if the system states none.
        tool_calls: of all tools, searches included; None if they are not known.
        error: what failed.
        asked: when, in UTC.
        seconds: that all of it took.
    """

    steps: tuple[Step, ...]
    calls: tuple[ModelCall, ...] = ()
    answer: str | None = None
    cited: tuple[str, ...] | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] | None = None
    tool_calls: int | None = None
    error: str = ""
    asked: str = ""
    seconds: float | None = None

    @property
    def passages(self) -> tuple[Passage, ...]:
        """Return the passages of all searches, in order."""
        return tuple(passage for step in self.steps for passage in step.passages or ())


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


def reply_of(found: Any, question: str) -> Reply:
    """Return what a system replied to a question.

    A system that answers returns ``{"answer": …, "passages": …}``. The answer may cite passages, as
    ``[1]`` or ``[CITE:1]``. One that searches several times returns ``steps`` in place of
    ``passages``: a search has ``query`` and ``passages``, a call of a model ``model``, and where
    they are known ``input_tokens``, ``output_tokens`` and ``usd``; each may have ``seconds``. A
    list is the passages of a system that only searches.

    Raises:
        FormatError: the reply has another form.
    """
    if not _has_answer(found):
        return Reply((Step(question, _passages(found)),))
    answer, steps = found.get("answer"), found.get("steps")
    if not isinstance(answer, str | None):
        raise FormatError(f"a system returned the answer {answer!r:.80}; expected a text")
    if steps is None:
        return Reply((Step(question, _passages(found.get("passages") or [])),), answer=answer)
    if not isinstance(steps, list | tuple) or not all(isinstance(e, Mapping) for e in steps):
        raise FormatError(f"a system returned the steps {steps!r:.80}; expected a list of mappings")
    calls = [_checked(ModelCall, step) for step in steps if "model" in step]
    searches = [
        _checked(Step, {"query": "", **step, "passages": _passages(step["passages"])})
        for step in steps
        if "passages" in step
    ]
    whole = {"steps": searches, "calls": calls, "answer": answer}
    return _checked(Reply, {**whole, "confidence": found.get("confidence")})


def _checked(kind: type[T], step: Mapping[str, Any]) -> T:
    try:
        return cast("T", adapter_of(kind).validate_python(dict(step)))
    except ValidationError as error:
        raise FormatError(f"a system returned {problems_of(error)}") from None


def _has_answer(found: Any) -> bool:
    return isinstance(found, Mapping) and not found.keys().isdisjoint(("answer", "steps"))


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
