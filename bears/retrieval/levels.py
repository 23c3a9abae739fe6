"""Two levels of a search: the chunks that were found, and the documents that they are from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil

from bears.retrieval.retriever import Cutting, Query, RetrieveSettings, Searcher, Stopwatch
from bears.types import Chunk, ChunkHit, ChunkRanking, Hit, Ranking


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What was found for one question.

    Args:
        documents: each by its best chunk (MaxP).
        chunks: what the searcher found.
        named: the chunks by their names in the index, as deep as the searcher was asked.
    """

    documents: Ranking
    chunks: ChunkRanking
    named: Ranking


def documents_of(chunks: ChunkRanking, k: int | None = None) -> Ranking:
    """Return the ``k`` best documents of ranked chunks, or all; ties by doc_id, descending."""
    best: dict[str, float] = {}
    for chunk, score in chunks:
        best[chunk.doc_id] = max(score, best.get(chunk.doc_id, score))
    pairs = sorted(((score, doc_id) for doc_id, score in best.items()), reverse=True)
    return tuple(Hit(doc_id, score) for score, doc_id in pairs[:k])


@dataclass(frozen=True)
class OpenIndex:
    """An index that is open, and how it is searched.

    Args:
        searcher: of the index.
        density: chunks per document in the index; 1 if each document is its own only chunk.
        places: the chunk of each name in the index; other names are ids of whole documents.
        settings: what counts of what is found, and how deep to search.
    """

    searcher: Searcher
    density: float
    places: Mapping[str, Chunk]
    settings: RetrieveSettings

    def search(self, queries: Mapping[str, Query], stopwatch: Stopwatch) -> dict[str, SearchResult]:
        """Return what was found for each question and counts, by the question's id."""
        settings = self.settings
        with stopwatch("total"):
            found = self.levels(queries, settings.depth, stopwatch)
        ignored = {
            question_id: queries[question_id]
            for question_id, one in found.items()
            if any(settings.ignores(question_id, hit.doc_id) for hit in one.documents)
        }
        # One hit more, so that `depth` of them stay. The second search is not timed.
        found |= self.levels(ignored, settings.depth + 1, Stopwatch())
        kept = settings.kept
        return {
            key: replace(one, documents=kept(key, one.documents), chunks=kept(key, one.chunks))
            for key, one in found.items()
        }

    def levels(
        self, queries: Mapping[str, Query], k: int, stopwatch: Stopwatch
    ) -> dict[str, SearchResult]:
        """Return the best ``k`` documents for each query, and its best ``k`` chunks, by its name.

        The chunks are searched deep enough that ``k`` documents are among them.
        """
        # A system that runs elsewhere cuts documents that are whole here; it adds to its places.
        searcher = self.searcher
        places = searcher.places if isinstance(searcher, Cutting) else self.places
        found: dict[str, SearchResult] = {}
        limit = ceil(k * self.density)
        while missing := [name for name in queries if name not in found]:
            deep = searcher.search([queries[name] for name in missing], limit, stopwatch)
            for name, hits in zip(missing, deep, strict=True):
                chunks = tuple(
                    ChunkHit(places.get(hit) or Chunk(hit), score) for hit, score in hits
                )
                documents = documents_of(chunks, k) if places else hits
                # A chunk beyond may tie with the last document.
                complete = len(documents) == k and hits[-1].score < documents[-1].score
                if self.density == 1 or complete or len(hits) < limit:
                    found[name] = SearchResult(documents, chunks[:k], hits[:k])
            limit *= 4
        return {name: found[name] for name in queries}
