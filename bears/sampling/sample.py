"""Sample a benchmark in its source languages from records and a mixture."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bears.config.ledger.entries import Ledger
from bears.errors import LedgerError, SamplingError
from bears.sampling.bears import bears_pool, passage_texts, questions_of, role
from bears.sampling.edits import apply_edits
from bears.sampling.lineage import document_line, references_of
from bears.sampling.mixture import Mixture, PublishedRecipe, V1Recipe
from bears.sampling.replacement import replace_questions
from bears.sampling.v1 import Draft, Sources, V1Sample, Visit, as_published, sample_v1
from bears.types import Document, Question


@dataclass(frozen=True)
class Sample:
    """A benchmark before translation.

    Args:
        questions: in the order of the mixture's sources.
        documents: the pool, in its final order.
        lineage: a row for each record with its origin.
        passed_over: a row for each question that was visited and skipped.
        unmatched: ledger entries that match no record of this sample.
    """

    questions: list[Question]
    documents: list[Document]
    lineage: list[dict[str, Any]]
    passed_over: list[dict[str, Any]]
    unmatched: list[str]


def sample(mixture: Mixture, sources: Sources, ledger: Ledger) -> Sample:
    """Sample a benchmark; a pure function of its arguments.

    Raises:
        SamplingError: the sources cannot give what the mixture asks for.
        LedgerError: an entry cannot be applied.
    """
    v1 = sample_v1(mixture, sources)
    passed_over = [_passed(visit) for visit in v1.visits if not visit.taken]
    if isinstance(mixture, V1Recipe):
        return _as_v1(mixture, sources, v1, ledger, passed_over)
    pool, unknown = replace_questions(bears_pool(v1, mixture), v1.rest, ledger.replaced)
    pooled = [pool.documents[text] for text in pool.order]
    asked = list(questions_of(pool.drafts, pool.documents))
    questions, documents, unused = apply_edits(asked, pooled, ledger.edits)
    unmatched = sorted(unknown) + sorted(edit.record_id for edit in unused)
    return Sample(questions, documents, _lineage(pool.drafts, pooled), passed_over, unmatched)


def count_reasons(passed_over: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Count the questions that were skipped, by source and reason."""
    counts: dict[str, Counter[str]] = {}
    for row in passed_over:
        counts.setdefault(row["source"], Counter())[row["reason"]] += 1
    return {source: dict(sorted(reasons.items())) for source, reasons in sorted(counts.items())}


def _as_v1(
    mixture: Mixture,
    sources: Sources,
    v1: V1Sample,
    ledger: Ledger,
    passed_over: list[dict[str, Any]],
) -> Sample:
    if ledger.edits or ledger.replacements:
        raise LedgerError(
            f"{type(mixture).__name__} reproduces a published set and takes no ledger; use "
            "sample._target_=bears.sampling.mixture.Recipe, or remove the entries"
        )
    documents = v1.pool
    if isinstance(mixture, PublishedRecipe):
        documents = as_published(v1, mixture, sources)
    if len(documents) != mixture.documents:
        raise SamplingError(
            f"sample.documents is {mixture.documents}, but {type(mixture).__name__} gives "
            f"{len(documents)}: the questions bring more, or the unused paragraphs of "
            f"{', '.join(mixture.negatives)} are too few; change sample.documents"
        )
    questions, drafts = v1.questions(), [visit.draft for visit in v1.taken]
    lineage = _lineage(drafts, documents)
    return Sample(questions, documents, lineage, passed_over, [])


def _passed(visit: Visit) -> dict[str, Any]:
    draft = visit.draft
    return {
        "source": draft.source,
        "row": draft.asked.row,
        "upstream_id": draft.upstream_id,
        "reason": visit.reason,
    }


def _question_line(draft: Draft) -> dict[str, Any]:
    line = {
        "record_id": draft.question_id,
        "kind": "question",
        "source": draft.source,
        "row": draft.asked.row,
        "upstream_id": draft.upstream_id,
    }
    references = references_of(draft.asked.references)
    return {**line, "references": references} if references else line


def _lineage(drafts: Sequence[Draft], documents: Iterable[Document]) -> list[dict[str, Any]]:
    texts = passage_texts(drafts)
    rows = [_question_line(draft) for draft in drafts]
    users: dict[str, list[str]] = {}
    for row, draft in zip(rows, drafts, strict=True):
        for text in draft.texts:
            users.setdefault(text, []).append(row["record_id"])
    for document in documents:
        own = users.get(document.content, [])
        rows.append(document_line(document, role(document, texts), own))
    return rows
