"""Two retrievers as one: their rankings fused by reciprocal ranks."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bears.retrieval.cut import Cut, Limited
from bears.retrieval.ranking import best
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.retrieval.vectors import Approximate
from bears.types import Document, Positive, Ranking


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Reciprocal rank fusion of two retrievers, usually a dense and a sparse one.

    Args:
        dense: the first retriever.
        sparse: the second retriever.
        constant: what is added to a rank, which counts from 1; 60 in the paper.
        window: how many documents of each ranking take part; at least as many as are wanted.
    """

    dense: Retriever
    sparse: Retriever
    constant: Positive
    window: Positive

    def index(self, documents: Iterable[Document], folder: Path, scratch: Path) -> None:
        """Index both. The terms come first, since the vectors may be stored beside them."""
        for name, leg in (("sparse", self.sparse), ("dense", self.dense)):
            (folder / name).mkdir(parents=True, exist_ok=True)
            leg.index(documents, folder / name, scratch)

    def open(self, folder: Path) -> "HybridSearcher":
        """Open both."""
        legs = self.dense.open(folder / "dense"), self.sparse.open(folder / "sparse")
        return HybridSearcher(legs, self.constant, self.window)


@dataclass(frozen=True, slots=True)
class HybridSearcher:
    """Two searchers whose rankings are fused."""

    legs: Sequence[Searcher]
    constant: int
    window: int

    def search(self, queries: Sequence[Query], k: int, stopwatch: Stopwatch) -> list[Ranking]:
        """Return the ``k`` documents of highest fused score for each query."""
        window = max(self.window, k)
        rankings = [leg.search(queries, window, stopwatch) for leg in self.legs]
        with stopwatch("fuse"):
            return [
                reciprocal_ranks(of_query, k, self.constant)
                for of_query in zip(*rankings, strict=True)
            ]

    def cut(self, question: str, ranking: Ranking) -> list[Cut]:
        """Return what either model did not read."""
        legs = (leg for leg in self.legs if isinstance(leg, Limited))
        return [cut for leg in legs for cut in leg.cut(question, ranking)]

    def exactness(self, texts: Sequence[str], k: int) -> Mapping[str, object]:
        """Return the exactness of the first leg whose search is approximate."""
        for leg in self.legs:
            if isinstance(leg, Approximate):
                exactness = leg.exactness(texts, max(self.window, k))
                if not exactness["exact"]:
                    return exactness
        return {"exact": True}


def reciprocal_ranks(rankings: Sequence[Ranking], k: int, constant: int) -> Ranking:
    """Return the ``k`` best documents by the sum of 1 / (``constant`` + rank), rank from 1.

    Source: reciprocal rank fusion (Cormack, Clarke and Büttcher 2009).

    Ties are broken by descending doc_id, as everywhere. Fused scores tie often, since two
    documents that swap their ranks get the same sum.

    Args:
        rankings: of the same question, each already in the order of our tie rule.
        k: how many documents.
        constant: 60 in the paper. Qdrant counts ranks from 0, so its k=61 is the paper's 60.
    """
    scores: dict[str, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.doc_id] = scores.get(hit.doc_id, 0.0) + 1 / (constant + rank)
    return best(np.array(list(scores.values())), list(scores), k)
