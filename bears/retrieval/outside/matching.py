"""Passages as systems return them, and the document, and the place in it, that each is from."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from hashlib import sha256
from itertools import islice
from numbers import Real
from typing import Annotated, Any

from pydantic import Field

from bears.errors import FormatError
from bears.files.records import value_as
from bears.identity import identifier_of
from bears.language.quotations import SHORTEST, Match, QuotedText, letters_of
from bears.trace import ModelCall, Search, Trace
from bears.types import Chunk, chunks_in_order

SOURCES = ("source", "file_path", "path", "url", "file_name", "filename", "file")
"""Names of metadata that say which file a passage is from, the surest first."""
BLOCKS = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*#•]|\d+[.)]|\[\d+\])\s)|\n-{3,}")
"""What divides a text into passages: an empty line, or a line that begins an item."""
MARKER = re.compile(r"^\s*(?:[-*#•>]+|\d+[.)]|\[\d+\])?\s*")
WORDS = re.compile(r"[^\s\[\](){}<>\"'`,;|*]+")
MOST_TEXTS = 10_000
"""How many texts are kept with the document that has them."""
REPLY = "the reply of a system"
"""What a message calls it."""
UNMATCHED = "unmatched-"
"""How the document of a passage without one is called; its rank follows."""


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
    calls = [value_as(ModelCall, dict(step), REPLY) for step in steps if "model" in step]
    searches = [
        value_as(Step, {"query": "", **step, "passages": _passages(step["passages"])}, REPLY)
        for step in steps
        if "passages" in step
    ]
    whole = {"steps": searches, "calls": calls, "answer": answer}
    return value_as(Reply, {**whole, "confidence": found.get("confidence")}, REPLY)


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


class PassageMatcher:
    """Matches passages with the documents of a benchmark: by id, by path, or by their text.

    Args:
        documents: doc_id to text.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = documents
        self._quoted = cache(lambda doc_id: QuotedText(documents[doc_id], cut=True))
        self._anywhere = lru_cache(maxsize=MOST_TEXTS)(self._search)
        self._kept: dict[Passage, Chunk | None] = {}
        self._named: dict[str, list[str]] = defaultdict(list)
        for doc_id in documents:
            self._named[doc_id.rpartition("/")[2]].append(doc_id)

    def chunks(self, passages: Iterable[Passage]) -> list[Chunk]:
        """Return the chunk of each passage; one without a match keeps its rank, see `matched`."""
        places: dict[Passage, int] = {}
        return [
            self.match(passage) or Chunk(f"{UNMATCHED}{places.setdefault(passage, place)}")
            for place, passage in enumerate(passages)
        ]

    def trace(self, question_id: str, reply: Reply, chunks: Sequence[Chunk]) -> Trace:
        """Return the trace of a reply, without the citations that its answer has as markers.

        Args:
            chunks: of the reply's passages, as `chunks` returns them.
        """
        return Trace(
            question_id=question_id,
            searches=_searches(reply, chunks),
            calls=reply.calls,
            answer=reply.answer,
            evidence=None if reply.cited is None else tuple(map(Chunk, reply.cited)),
            error=reply.error,
            confidence=reply.confidence,
            tool_calls=reply.tool_calls,
            asked=reply.asked,
            seconds=reply.seconds,
        )

    def keep(self, passage: Passage) -> Passage:
        """Return a passage with the digest of its text, whose chunk is known from now on."""
        digest = sha256(passage.text.encode("utf-8", "replace")).hexdigest() if passage.text else ""
        kept = replace(passage, text=digest)
        if kept not in self._kept:
            self._kept[kept] = self.match(passage)
        return kept

    def within(self, text: str) -> tuple[Passage, ...]:
        """Return a passage for each block of a text, such as Markdown, that a document is in.

        A block names a document, or is a part of one.
        """
        if self._path(text.strip()):
            return (Passage(text.strip()),)
        found = []
        for block in BLOCKS.split(text):
            named = dict.fromkeys(filter(None, map(self._name, WORDS.findall(block))))
            if len(named) == 1:
                [doc_id] = named
                rest = "\n".join(
                    line
                    for line in block.splitlines()
                    if not any(map(self._name, WORDS.findall(line)))
                )
                there = letters_of(rest) and self._quoted(doc_id).find(rest, similar=False)
                found.append(Passage(doc_id, text=rest if there else ""))
            elif named:
                found += map(Passage, named)
            else:
                # A heading or the marker of a list is not in the document.
                lines = [MARKER.sub("", line) for line in block.splitlines()]
                texts = ["\n".join(lines), *sorted(lines, key=len, reverse=True)]
                long = [each for each in texts if len(letters_of(each)) >= SHORTEST]
                if long:
                    best = next(filter(self._anywhere, long), block.strip())
                    chunk = self._anywhere(best)
                    # A heading that names the document comes before its text.
                    if chunk and found and found[-1] == Passage(chunk.doc_id):
                        del found[-1]
                    found.append(Passage(text=best))
        return tuple(found)

    def _name(self, word: str) -> str:
        """Return the document that a word of a text names; a number or a plain word names none."""
        telling = len(word) > 3 and not word.isalpha() and not word.isdecimal()
        return self._path(word) if telling else ""

    def match(self, passage: Passage) -> Chunk | None:
        """Return the chunk, or the whole document; None without a match.

        A text that several documents have, or that is in none, is never guessed. A passage whose
        document is known and whose text is not there is an empty range of it.
        """
        if passage in self._kept:
            return self._kept[passage]
        doc_id = next(filter(None, map(self._path, (passage.id, passage.source))), "")
        if not doc_id:
            return self._anywhere(passage.text) if letters_of(passage.text) else None
        if not passage.text or passage.text == passage.id:
            return Chunk(doc_id)
        text = self._documents[doc_id]
        if passage.start is not None:
            end = passage.start + len(passage.text)
            if letters_of(text[passage.start : end]) == letters_of(passage.text):
                return _chunk(doc_id, Match(passage.start, end), text)
        match = self._quoted(doc_id).find(passage.text)
        return _chunk(doc_id, match, text) if match else Chunk(doc_id, 0, 0)

    def _path(self, path: str) -> str:
        """Return the document with an id, or with a path.

        Any beginning of a path may be missing or too much.
        """
        if path in self._documents:
            return path
        parts = identifier_of(path.replace("\\", "/").removeprefix("file://")).split("/")
        for first in range(len(parts)):
            if (end := "/".join(parts[first:])) in self._documents:
                return end
        named = self._named.get(parts[-1], [])
        return named[0] if len(named) == 1 else ""

    def _search(self, text: str) -> Chunk | None:
        found = [
            (doc_id, match)
            for doc_id in self._documents
            if (match := self._quoted(doc_id).find(text, similar=False))
        ]
        if len(found) != 1:
            return None
        [(doc_id, match)] = found
        return _chunk(doc_id, match, self._documents[doc_id])


def _searches(reply: Reply, chunks: Sequence[Chunk]) -> tuple[Search, ...] | None:
    """Return the searches of a reply; None if it does not say what one of them found."""
    if any(step.passages is None for step in reply.steps):
        return None
    left, found = iter(chunks), []
    for step in reply.steps:
        own = chunks_in_order(islice(left, len(step.passages or ())))
        found.append(Search(step.query, own, step.seconds))
    return tuple(found)


def matched(chunk: Chunk) -> bool:
    """Return whether the passage of a chunk is from a document of the benchmark."""
    return not chunk.doc_id.startswith(UNMATCHED)


def _chunk(doc_id: str, match: Match, text: str) -> Chunk:
    whole = (match.start, match.end) == (0, len(text))
    return Chunk(doc_id) if whole else Chunk(doc_id, match.start, match.end)
