"""BM25 (Robertson et al. 1994) through bm25s, with Lucene's idf and scores in float64."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bears.errors import ConfigurationError
from bears.formats.records import read_json, write_json
from bears.retrieval.analysis import ANALYZERS
from bears.retrieval.retriever import best
from bears.types import Document, Ranking


class BM25:
    """Sparse retrieval.

    Args:
        name: of the file under conf/retriever.
        k1: term frequency saturation.
        b: length normalisation, 0 to 1.
        analyzer: a name of `bears.retrieval.analysis.ANALYZERS`.
    """

    def __init__(self, name: str, k1: float, b: float, analyzer: str) -> None:
        if analyzer not in ANALYZERS:
            raise ConfigurationError(
                f"retriever.analyzer is {analyzer!r}; expected one of {', '.join(ANALYZERS)}"
            )
        self.name, self._k1, self._b = name, k1, b
        self._analyze = ANALYZERS[analyzer]

    def index(self, documents: Sequence[Document], folder: Path) -> None:
        """Write bm25s' files and the ids."""
        import bm25s

        terms = [self._analyze(document.content) for document in documents]
        # bm25s numbers terms in the order of a set, which differs from run to run.
        vocabulary = {term: i for i, term in enumerate(sorted({t for text in terms for t in text}))}
        ids = [[vocabulary[term] for term in text] for text in terms]
        index = bm25s.BM25(k1=self._k1, b=self._b, method="lucene", dtype="float64")
        index.index((ids, vocabulary), show_progress=False)
        index.save(str(folder), show_progress=False)
        write_json(folder / "doc_ids.json", [document.doc_id for document in documents])

    def open(self, folder: Path) -> BM25Searcher:
        """Read what `index` wrote."""
        import bm25s

        index = bm25s.BM25.load(str(folder), load_corpus=False)
        # jieba reads its dictionary at the first text, which is loading, not searching.
        self._analyze("詞")
        return BM25Searcher(index, read_json(folder / "doc_ids.json"), self._analyze)


class BM25Searcher:
    """A BM25 index in memory. Documents that share no term with the question are left out."""

    def __init__(self, index: Any, doc_ids: Sequence[str], analyze: Any) -> None:
        self._index, self._doc_ids, self._analyze = index, doc_ids, analyze
        self._known = index.vocab_dict

    def search(self, question: str, k: int) -> Ranking:
        """The best ``k`` documents with a positive score."""
        terms = [term for term in self._analyze(question) if term in self._known]
        if not terms:
            return ()
        scores = self._index.get_scores(terms)
        return best(np.where(scores > 0, scores, -np.inf), self._doc_ids, k)
