"""The documents as BM25 sees them: what is near, what may answer too, what is easy to find."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from bears.questions.form import Form, Written
from bears.retrieval.retriever import Query, Retriever, Searcher
from bears.retrieval.stopwatch import Stopwatch
from bears.types import Document

NEAR = 20
"""How far down BM25's documents are looked at for one that holds an answer."""
COPY = 0.5
"""The `likeness` from which on two documents say the same."""


@dataclass(frozen=True)
class DocumentPool:
    """Documents and an index of them.

    Args:
        documents: in the source's order.
        retriever: what makes the index when it is first asked.
        form: how texts of the language are compared.
    """

    documents: Sequence[Document]
    retriever: Retriever
    form: Form

    @cached_property
    def by_id(self) -> dict[str, Document]:
        return {document.doc_id: document for document in self.documents}

    @cached_property
    def _index(self) -> Searcher:
        # What is mapped into memory needs no name any more.
        with TemporaryDirectory(prefix="bears-questions-") as folder:
            self.retriever.index(self.documents, Path(folder), Path(folder))
            return self.retriever.open(Path(folder))

    def ranking(self, text: str, depth: int) -> list[str]:
        """The doc_ids that BM25 finds for a text, best first."""
        [found] = self._index.search([Query(text)], depth, Stopwatch())
        return [hit.doc_id for hit in found]

    def others(self, draft: Written, gold: Sequence[Document], count: int) -> list[Document]:
        """Of what BM25 finds for a question, those that hold its answer first."""
        known = {document.doc_id for document in gold}
        ids = self.ranking(draft.question, NEAR + len(known))
        near = [self.by_id[each] for each in ids if each not in known]
        near.sort(key=lambda document: not self.form.stands(draft.answer, document.content))
        return near[:count]

    def alike(self, one: str, other: str) -> bool:
        """Whether two documents are near-copies."""
        return likeness(self.form.tokens(one), self.form.tokens(other)) >= COPY


def likeness(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the pairs of neighbouring tokens of either text that both have (Jaccard's)."""
    pairs, others = ({*zip(each, each[1:] or each, strict=False)} for each in (one, other))
    return len(pairs & others) / len(pairs | others) if pairs | others else 0.0
