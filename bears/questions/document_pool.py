"""Search the documents with BM25, for other answers and the difficulty of a question."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from bears.questions.form import Form, Written
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch
from bears.types import Document, IndexedChunk

NEAR = 20
"""How many of BM25's documents to search for one that contains an answer."""


@dataclass(frozen=True)
class DocumentPool:
    """Documents and an index of them.

    Args:
        documents: or passages of them, in the source's order.
        retriever: builds the index at the first search.
        form: compares texts of the language.
    """

    documents: Sequence[IndexedChunk]
    retriever: Retriever
    form: Form

    @cached_property
    def by_id(self) -> dict[str, IndexedChunk]:
        """Return the passages by their names."""
        return {document.doc_id: document for document in self.documents}

    @cached_property
    def _index(self) -> Searcher:
        # Files that are mapped into memory can lose their names.
        with TemporaryDirectory(prefix="bears-questions-") as folder:
            self.retriever.index(self.documents, Path(folder), Path(folder))
            return self.retriever.open(Path(folder))

    def ranking(self, text: str, depth: int) -> list[str]:
        """Return the doc_ids that BM25 finds for a text, best first."""
        [found] = self._index.search([Query(text)], depth, Stopwatch())
        return [hit.doc_id for hit in found]

    def others(self, draft: Written, gold: Document, count: int) -> list[Document]:
        """Return other documents that BM25 finds for a question, those with its answer first."""
        ids = self.ranking(draft.question, NEAR + 1)
        near: list[Document] = [self.by_id[doc_id] for doc_id in ids if doc_id != gold.doc_id]
        near.sort(key=lambda document: not self.form.occurs(draft.answer, document.content))
        return near[:count]


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """Return Jaccard's similarity of the pairs of neighboring tokens in two texts."""
    pairs, others = ({*zip(tokens, tokens[1:] or tokens, strict=False)} for tokens in (one, other))
    return len(pairs & others) / len(pairs | others) if pairs | others else 0.0
