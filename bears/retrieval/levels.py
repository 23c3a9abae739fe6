"""Two levels of a search: the chunks that were found, and the documents that they are from."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

from bears.retrieval.retriever import Query, Searcher, Stopwatch
from bears.types import Hit, Ranking, document_of


class Levels(NamedTuple):
    """What was found for one question: documents, each by its best chunk (MaxP), and chunks."""

    documents: Ranking
    chunks: Ranking


def documents_of(chunks: Ranking, k: int) -> Ranking:
    """Return the ``k`` best documents of a ranking of chunks; ties by doc_id, descending."""
    best: dict[str, float] = {}
    for hit in chunks:
        doc_id = document_of(hit.doc_id)
        best[doc_id] = max(hit.score, best.get(doc_id, hit.score))
    pairs = sorted(((score, doc_id) for doc_id, score in best.items()), reverse=True)
    return tuple(Hit(doc_id, score) for score, doc_id in pairs[:k])


def search_levels(
    searcher: Searcher, queries: Sequence[Query], k: int, stopwatch: Stopwatch, density: float
) -> list[Levels]:
    """Return the best ``k`` documents for each query, and its best ``k`` chunks.

    The chunks are searched deep enough that ``k`` documents are among them.

    Args:
        searcher: an open index.
        queries: searched together.
        k: how many documents, and how many chunks.
        stopwatch: see `Searcher.search`.
        density: chunks per document in the index; 1 if each document is its own only chunk.
    """
    if density == 1:
        rankings = searcher.search(queries, k, stopwatch)
        # A system that runs elsewhere cuts documents that are whole here.
        cut = (any("#" in hit.doc_id for hit in ranking) for ranking in rankings)
        return [
            Levels(documents_of(ranking, k) if parts else ranking, ranking)
            for ranking, parts in zip(rankings, cut, strict=True)
        ]
    found: dict[int, Levels] = {}
    limit = ceil(k * density)
    while missing := [place for place in range(len(queries)) if place not in found]:
        deep = searcher.search([queries[place] for place in missing], limit, stopwatch)
        for place, chunks in zip(missing, deep, strict=True):
            documents = documents_of(chunks, k)
            # A chunk beyond may tie with the last document.
            complete = len(documents) == k and chunks[-1].score < documents[-1].score
            if complete or len(chunks) < limit:
                found[place] = Levels(documents, chunks[:k])
        limit *= 4
    return [found[place] for place in range(len(queries))]
