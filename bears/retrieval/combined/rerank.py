"""Reranking: a slower model orders the best documents of another retriever again."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bears.files.records import atomic_write, read_json, to_line, write_text
from bears.retrieval.cut import Cut, Limited
from bears.retrieval.ranking import best, rounded_scores
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.types import Document, Hit, Positive, Ranking

LINES, STARTS = "texts.jsonl", "starts.json"


def write_texts(documents: Iterable[Document], folder: Path) -> None:
    """Write the texts of documents; their ids are held in memory.

    Args:
        documents: no two have one id.
        folder: where the texts go.
    """
    starts: dict[str, int] = {}
    position = 0
    with atomic_write(folder / LINES) as stream:
        for document in documents:
            line = to_line({"doc_id": document.doc_id, "text": document.content}).encode()
            starts[document.doc_id] = position
            stream.write(line)
            position += len(line)
    write_text(folder / STARTS, json.dumps(starts, ensure_ascii=False))


class StoredTexts:
    """The texts that `write_texts` wrote. Each is read when it is needed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LINES
        self._starts: dict[str, int] = read_json(folder / STARTS)

    def text(self, doc_id: str) -> str:
        """Return the text of a document."""
        with self._path.open("rb") as stream:
            stream.seek(self._starts[doc_id])
            return str(json.loads(stream.readline())["text"])


FIRST, TEXTS = "first", "texts"


class Reranker(Protocol):
    """Scores pairs of a question and a text. The constructor only takes settings."""

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return how well each text answers ``question``, shape (texts,); more is better."""

    def cut(self, question: str, texts: Sequence[str]) -> Cut:
        """Return how much of the pairs of ``question`` and each text is not read."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best ``depth`` documents of a first stage, in a reranker's order.

    Documents beyond ``depth`` follow in the order of the first stage. Their scores are the lowest
    reranked one less 1, 2, 3, …, because the scores of the two models are not on one scale and a
    run is sorted by its scores alone.

    Args:
        first: the first stage.
        reranker: scores texts.
        depth: how many documents are reranked.
    """

    first: Retriever
    reranker: Reranker
    depth: Positive

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Write the first stage's index, and the texts beside it."""
        inner = folder / FIRST
        inner.mkdir(parents=True, exist_ok=True)
        write_texts(documents, folder / TEXTS)
        self.first.index(documents, inner, scratch)

    def open(self, folder: Path) -> "RerankedSearcher":
        """Open the first stage and load the reranker."""
        self.reranker.scores("warm", ["warm"])
        first = self.first.open(folder / FIRST)
        return RerankedSearcher(first, StoredTexts(folder / TEXTS), self.reranker, self.depth)


@dataclass(frozen=True, slots=True)
class RerankedSearcher:
    """A first stage, its texts, and a reranker."""

    first: Searcher
    texts: StoredTexts
    reranker: Reranker
    depth: int

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the ``k`` best documents for each query, the first ``depth`` of them reranked."""
        rankings = self.first.search(queries, max(k, self.depth), stopwatch)
        with stopwatch("rerank"):
            return [
                self._reranked(query.text, ranking)[:k]
                for query, ranking in zip(queries, rankings, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """Return what the first stage did not read, and what the reranker did not read."""
        before = self.first.cut(question, ranking) if isinstance(self.first, Limited) else []
        texts = [self.texts.text(hit.doc_id) for hit in ranking[: self.depth]]
        return [*before, self.reranker.cut(question, texts)]

    def _reranked(self, question: str, ranking: Ranking) -> Ranking:
        if not ranking:
            return ()
        top, rest = ranking[: self.depth], ranking[self.depth :]
        ids = [hit.doc_id for hit in top]
        scores = self.reranker.scores(question, [self.texts.text(doc_id) for doc_id in ids])
        reranked = best(scores, ids, len(top))
        below = rounded_scores(reranked[-1].score - np.arange(1.0, len(rest) + 1))
        following = [
            Hit(hit.doc_id, score) for hit, score in zip(rest, below.tolist(), strict=True)
        ]
        return (*reranked, *following)
