"""Find the document, and the place in it, of a passage that a system returned."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import islice

from bears.identity import identifier_of
from bears.language.quotations import Match, QuotedText, letters_of
from bears.retrieval.outside.replies import Passage, Reply
from bears.trace import Search, Trace
from bears.types import Chunk, chunks_in_order

UNMATCHED = "unmatched-"
"""How the document of a passage without one is called; its rank follows."""


class PassageMatcher:
    """Matches passages with the documents of a benchmark: by id, by path, or by their text.

    Args:
        documents: doc_id to text.
    """

    def __init__(self, documents: Mapping[str, str]) -> None:
        self._documents = documents
        self._quoted = cache(lambda doc_id: QuotedText(documents[doc_id], cut=True))
        self._anywhere = cache(self._search)
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

    def match(self, passage: Passage) -> Chunk | None:
        """Return the chunk, or the whole document; None without a match.

        A text that several documents have, or that is in none, is never guessed. A passage whose
        document is known and whose text is not there is an empty range of it.
        """
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
        """Return the document with a path, of which any beginning may be missing or too much."""
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
