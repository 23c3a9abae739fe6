"""Choose the pool of documents, and the passages and pairs to write questions about."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Literal

from bears.errors import SamplingError
from bears.identity import question_id
from bears.questions.pool import DocumentPool
from bears.questions.settings import MadeSettings
from bears.types import Document

LINKED = 10
"""How many of BM25's documents for a passage may become its partner."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The subject of one question.

    Args:
        question_id: depends on the writer and on the documents, not on the words of the question.
        documents: its gold: one document, or two that are linked.
    """

    question_id: str
    question_type: Literal["single-hop", "multi-hop"]
    documents: tuple[Document, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(document.content for document in self.documents)


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


def units_of(pool: DocumentPool, settings: MadeSettings, questioner: str) -> list[Unit]:
    """Select passages, then pairs; asking for more of them keeps the earlier ones.

    A pair is a passage and the first other one that BM25 finds for its text, without its copies.

    Args:
        questioner: its name, which enters the ids of questions.
    """
    least, most = settings.passage_bytes
    fit = [d for d in pool.documents if least <= len(d.content.encode()) <= most]
    Random(settings.seed).shuffle(fit)
    alone = [(document,) for document in fit[: settings.passages]]
    # From the other end, so that more passages do not change the pairs.
    twos = islice(_pairs(reversed(fit), {d.doc_id for d in fit}, pool), settings.pairs)
    units = [_unit(documents, questioner) for documents in (*alone, *twos)]
    if len(units) < settings.passages + settings.pairs:
        raise SamplingError(
            f"sample.passages and sample.pairs are {settings.passages} and {settings.pairs}, but "
            f"of {len(pool.documents)} documents {len(fit)} have {least} to {most} bytes, and "
            f"{len(units) - len(alone)} pairs are linked; ask for fewer, or change "
            "sample.passage_bytes"
        )
    return units


def _pairs(
    order: Iterable[Document], fit: set[str], pool: DocumentPool
) -> Iterator[tuple[Document, Document]]:
    used: set[str] = set()
    for document in order:
        if document.doc_id in used:
            continue
        near = (pool.by_id[doc_id] for doc_id in pool.ranking(document.content, LINKED))
        for other in near:
            free = other.doc_id in fit - used - {document.doc_id}
            if free and not pool.alike(document.content, other.content):
                used |= {document.doc_id, other.doc_id}
                yield document, other
                break


def _unit(documents: tuple[Document, ...], questioner: str) -> Unit:
    ids = "+".join(document.doc_id for document in documents)
    name = question_id(documents[0].original_source, f"{questioner}:{ids}")
    return Unit(name, "single-hop" if len(documents) == 1 else "multi-hop", documents)
