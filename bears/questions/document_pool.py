"""Choose the documents and the passages to write questions about, and search them with BM25."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

from bears.errors import SamplingError
from bears.identity import question_id
from bears.questions.form import Form, Written
from bears.questions.settings import MadeSettings
from bears.retrieval.retriever import Query, Retriever, Searcher, Stopwatch, searcher_of
from bears.types import Document, IndexedChunk


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one question.

    Args:
        question_id: depends on the writer and on the passage, not on the words of the question.
        passage: a document or a part of one; its gold.
    """

    question_id: str
    passage: Document


def pool_of(given: Sequence[Document], settings: MadeSettings) -> list[Document]:
    """Return the documents of a source, each text once, or a random sample of them.

    Questions of the source are ignored.

    Raises:
        SamplingError: there are no documents.
    """
    unique = {document.content: document for document in reversed(list(given))}
    documents = list(reversed(unique.values()))
    if not documents:
        raise SamplingError(f"source {settings.source} has no document to write a question about")
    if settings.max_docs is None or settings.max_docs >= len(documents):
        return documents
    places = Random(settings.seed).sample(range(len(documents)), settings.max_docs)
    return [documents[place] for place in sorted(places)]


def units_of(passages: Sequence[Document], settings: MadeSettings, questioner: str) -> list[Unit]:
    """Select passages; asking for more of them keeps the earlier ones.

    Args:
        questioner: its name, which enters the ids of questions.
    """
    least, most = settings.passage_bytes
    fit = [each for each in passages if least <= len(each.content.encode()) <= most]
    Random(settings.seed).shuffle(fit)
    if len(fit) < settings.passages:
        raise SamplingError(
            f"sample.passages is {settings.passages}, but of {len(passages)} passages {len(fit)} "
            f"have {least} to {most} bytes; ask for fewer, or change sample.passage_bytes"
        )
    return [
        Unit(question_id(each.original_source, f"{questioner}:{each.doc_id}"), each)
        for each in fit[: settings.passages]
    ]


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
        return searcher_of(self.retriever, self.documents)

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
