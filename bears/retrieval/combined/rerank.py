"""A second look at what another retriever found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bears.retrieval.combined.stored_texts import StoredTexts, recorded
from bears.retrieval.cut import Cut, Limited
from bears.retrieval.ranking import best, rounded_scores
from bears.retrieval.retriever import Query, Retriever, Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document, Hit, Positive, Ranking

FIRST, TEXTS = "first", "texts"


class Reranker(Protocol):
    """Judges each text beside the question. The constructor takes settings only."""

    def scores(self, question: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """How well each text answers ``question``, shape (texts,); more is better."""

    def cut(self, question: str, texts: Sequence[str]) -> Cut:
        """How much of the pairs of ``question`` and each text is not read."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """The best ``depth`` documents of a first stage, put in a reranker's order.

    A document's score is that of its best chunk (MaxP), whichever chunk the first stage found.
    Documents that the first stage found beyond ``depth`` follow in its order. Their scores are the
    lowest reranked one less 1, 2, 3, …: a reranker's scores and a first stage's are not of one
    scale, and a run must be sorted by its scores alone.

    Args:
        first: the first stage.
        reranker: scores texts.
        depth: documents that are reranked.
    """

    first: Retriever
    reranker: Reranker
    depth: Positive

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """The first stage's index, and the texts beside it."""
        inner = folder / FIRST
        inner.mkdir(parents=True, exist_ok=True)
        self.first.index(recorded(documents, folder / TEXTS), inner, scratch)

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
        """For each query the ``k`` best documents, of which the first ``depth`` are reranked."""
        found = self.first.search(queries, max(k, self.depth), stopwatch)
        with stopwatch("rerank"):
            return [
                self._ordered(query.text, ranking)[:k]
                for query, ranking in zip(queries, found, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """That of the first stage, and of the pairs that were reranked."""
        before = self.first.cut(question, ranking) if isinstance(self.first, Limited) else []
        texts = [text for hit in ranking[: self.depth] for text in self.texts.chunks(hit.doc_id)]
        return [*before, self.reranker.cut(question, texts)]

    def _ordered(self, question: str, found: Ranking) -> Ranking:
        reranked = self._reranked(question, found[: self.depth])
        return (*reranked, *_below(reranked, found[self.depth :]))

    def _reranked(self, question: str, found: Sequence[Hit]) -> Ranking:
        if not found:
            return ()
        chunks = [(hit.doc_id, text) for hit in found for text in self.texts.chunks(hit.doc_id)]
        scores = self.reranker.scores(question, [text for _, text in chunks])
        return best(scores, [doc_id for doc_id, _ in chunks], len(found))


def _below(reranked: Ranking, rest: Sequence[Hit]) -> Ranking:
    if not rest:
        return ()
    lowest = reranked[-1].score
    scores = rounded_scores(lowest - np.arange(1, len(rest) + 1, dtype=np.float64))
    return tuple(Hit(hit.doc_id, float(score)) for hit, score in zip(rest, scores, strict=True))
