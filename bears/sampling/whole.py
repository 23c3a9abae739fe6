"""Take a source that is a benchmark already as it is."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from random import Random
from typing import Any

from bears.config.ledger.entries import Ledger
from bears.errors import LedgerError, SamplingError
from bears.files.rows import SourceRecords
from bears.identity import unused_name
from bears.sampling.lineage import Sample, document_lines, references_of
from bears.sampling.v1 import records_of
from bears.types import Document, ForbidsExtra, Positive, Question, SourceQuestion


class Merged:
    """The documents of a source, one for each distinct text.

    A document has the name of its first paragraph, with _ for white space, which separates the
    columns of a run. So the gold of every question that has its text is complete.
    """

    def __init__(self, records: SourceRecords) -> None:
        self._records = records
        self._names: list[str] = []
        ids: dict[bytes, str] = {}
        names: set[str] = set()
        for document in records.documents:
            key = blake2b(document.content.encode(), digest_size=16).digest()
            if key not in ids:
                ids[key] = unused_name("_".join(document.original_id.split()), names)
            self._names.append(ids[key])

    def __iter__(self) -> Iterator[Document]:
        seen: set[str] = set()
        for name, document in zip(self._names, self._records.documents, strict=True):
            if name not in seen:
                seen.add(name)
                yield replace(document, doc_id=name, original_id=name)

    def question(self, asked: SourceQuestion) -> Question:
        """Return a question with its gold among these documents."""
        gold = dict.fromkeys(self._names[p.place] for p in asked.passages if p.is_gold)
        return replace(asked.question, gold_doc_ids=tuple(gold), judged=bool(gold))


UNJUDGED = "no document is judged for it"


@dataclass(frozen=True)
class Whole(ForbidsExtra):
    """Takes a source that is a benchmark already as it is.

    Args:
        source: the source that is the benchmark.
        max_docs: the most documents to keep, for a quick run: the gold ones, and others drawn with
            ``seed``, in the source's order; null: all.
    """

    source: str
    seed: int = 42
    max_docs: Positive | None = None


@dataclass(frozen=True)
class Chosen:
    """Documents of a source that are read when they are needed, in its order.

    Args:
        pool: all documents.
        places: of those that are taken; None: of all.
        gold: ids of documents that a question has as gold.
    """

    pool: Iterable[Document]
    places: set[int] | None
    gold: set[str]

    def __iter__(self) -> Iterator[Document]:
        for place, document in enumerate(self.pool):
            if self.places is None or place in self.places:
                gold = document.is_gold or document.doc_id in self.gold
                yield replace(document, is_gold=gold)


def sample_whole(
    settings: Whole, sources: Mapping[str, SourceRecords], ledger: Ledger, licence: str = ""
) -> Sample[Chosen]:
    """Take the benchmark; a pure function of its arguments.

    If questions bring their own paragraphs, those are the documents, see `Merged`. A question
    without a judgement is skipped. One whose judgements are all below 1 counts as not judged: no
    relevant document is known, but there may be one.

    Args:
        licence: of the source's texts.

    Raises:
        SamplingError: the source is missing, has no question or no document, or its gold alone
            exceeds ``max_docs``.
        LedgerError: there are entries, but a published benchmark is not edited.
    """
    if ledger.edits or ledger.replacements:
        raise LedgerError("Whole takes a benchmark as it is, and no ledger")
    records = records_of(sources, settings.source)
    asked = list(records.questions)
    taken = [each for each in asked if each.lacks != "judgement"]
    merged = Merged(records) if any(each.passages for each in asked) else None
    pool = merged or records.documents
    ids = [document.doc_id for document in pool]
    questions = [merged.question(each) if merged else each.question for each in taken]
    if not taken or not ids:
        raise SamplingError(
            f"source {settings.source} gives {len(taken)} questions that are judged and "
            f"{len(ids)} documents; at least one of each is needed"
            + "; a folder of documents has them in questions.csv or questions.xlsx"
            * (not asked)
        )
    gold = {doc_id for question in questions for doc_id in question.gold_doc_ids}
    documents = Chosen(pool, _chosen(settings, ids, gold), gold)
    skipped = len(asked) - len(taken)
    notes = {
        "passed_over": {settings.source: {UNJUDGED: skipped}} if skipped else {},
        "judged_without_relevant": sum(each.lacks == "relevant" for each in taken),
        "unmatched_ledger_entries": [],
    }
    lines = (_line(each, settings.source, licence) for each in taken)
    of_documents = document_lines(documents, questions, licence)
    lineage = chain(lines, ({**line, "source": settings.source} for line in of_documents))
    return Sample(questions, documents, lineage, notes)


def _line(asked: SourceQuestion, source: str, licence: str) -> dict[str, Any]:
    name = asked.question.question_id
    references = references_of(asked.references) if asked.passages else []
    return {
        "record_id": name,
        "kind": "question",
        "source": source,
        "upstream_id": name,
        "licence": licence,
        **({"row": asked.row} if asked.row else {}),
        **({"references": references} if references else {}),
    }


def _chosen(settings: Whole, ids: Sequence[str], gold: set[str]) -> set[int] | None:
    """Return the positions of the documents that are taken, or None for all."""
    if settings.max_docs is None or settings.max_docs >= len(ids):
        return None
    needed = {position for position, doc_id in enumerate(ids) if doc_id in gold}
    if len(needed) > settings.max_docs:
        raise SamplingError(
            f"sample.max_docs is {settings.max_docs}, but the questions' gold alone are "
            f"{len(needed)} documents; ask for at least that many"
        )
    others = [position for position in range(len(ids)) if position not in needed]
    drawn = Random(settings.seed).sample(others, settings.max_docs - len(needed))
    return needed.union(drawn)
