"""From rows and a recipe to a benchmark in its source languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from bears.errors import LedgerError, SamplingError
from bears.sampling.ledger import Ledger, apply_edits
from bears.sampling.mended import Pool, mend, passage_texts, questions_of, role
from bears.sampling.origin import Origin, corrected_by_hand, sample_origin
from bears.sampling.recipe import Recipe
from bears.sampling.replacement import replace_questions
from bears.sampling.walk import Sources, Visit
from bears.types import Document, Question


@dataclass(frozen=True)
class Sample:
    """A benchmark before translation.

    Args:
        questions: in the order of the recipe's sources.
        documents: the pool, in its final order.
        lineage: one row for each record that says where it comes from.
        passed_over: one row for each upstream row that the walk came by and could not use.
        unmatched: ledger entries that name no record of this sample.
    """

    questions: list[Question]
    documents: list[Document]
    lineage: list[dict[str, Any]]
    passed_over: list[dict[str, Any]]
    unmatched: list[str]


def sample(recipe: Recipe, sources: Sources, ledger: Ledger) -> Sample:
    """Sample a benchmark; a pure function of its arguments.

    Raises:
        SamplingError: the sources cannot give what the recipe asks for.
        LedgerError: an entry cannot be applied.
    """
    origin = sample_origin(recipe, sources)
    passed_over = [_passed(visit) for visit in origin.visits if not visit.taken]
    if recipe.sampler != "bears":
        return _as_the_origin(recipe, sources, origin, ledger, passed_over)
    pool, unknown = replace_questions(mend(origin, recipe), origin.rest, ledger.replaced)
    questions, documents, unused = apply_edits(
        list(questions_of(pool.drafts, pool.documents)),
        [pool.documents[text] for text in pool.order],
        ledger.edits,
    )
    unmatched = sorted(unknown) + sorted(edit.record_id for edit in unused)
    return Sample(questions, documents, _lineage(pool), passed_over, unmatched)


def count_reasons(passed_over: Iterable[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """How many rows were passed over, by source and reason."""
    counts: dict[str, Counter[str]] = {}
    for row in passed_over:
        counts.setdefault(row["source"], Counter())[row["reason"]] += 1
    return {source: dict(sorted(reasons.items())) for source, reasons in sorted(counts.items())}


def _as_the_origin(
    recipe: Recipe,
    sources: Sources,
    origin: Origin,
    ledger: Ledger,
    passed_over: list[dict[str, Any]],
) -> Sample:
    if ledger != Ledger():
        raise LedgerError(
            f"sampler {recipe.sampler} reproduces a published set and takes no ledger; "
            "use sample.sampler=bears, or remove the entries"
        )
    documents = origin.pool
    if recipe.sampler == "bears-published":
        documents = corrected_by_hand(origin, recipe, sources)
    if len(documents) != recipe.documents:
        raise SamplingError(
            f"sample.documents is {recipe.documents}, but sampler {recipe.sampler} gives "
            f"{len(documents)}: the questions bring more, or the unused paragraphs of "
            f"{', '.join(recipe.negatives)} are too few; change sample.documents"
        )
    lineage = [
        {"record_id": d.doc_id, "source": d.original_source, "original_id": d.original_id}
        for d in documents
    ]
    return Sample(origin.questions(), documents, lineage, passed_over, [])


def _passed(visit: Visit) -> dict[str, Any]:
    draft = visit.draft
    return {
        "source": draft.source,
        "row": draft.row,
        "upstream_id": draft.upstream_id,
        "reason": visit.reason,
    }


def _lineage(pool: Pool) -> list[dict[str, Any]]:
    questions = list(questions_of(pool.drafts, pool.documents))
    texts = passage_texts(pool.drafts)
    users = _users(pool, questions)
    rows: list[dict[str, Any]] = [
        {
            "record_id": question.question_id,
            "kind": "question",
            "source": draft.source,
            "row": draft.row,
            "upstream_id": draft.upstream_id,
        }
        for question, draft in zip(questions, pool.drafts, strict=True)
    ]
    for text in pool.order:
        document = pool.documents[text]
        rows.append(
            {
                "record_id": document.doc_id,
                "kind": "document",
                "source": document.original_source,
                "original_id": document.original_id,
                "role": role(document, texts),
                "questions": users.get(text, []),
            }
        )
    return rows


def _users(pool: Pool, questions: Sequence[Question]) -> dict[str, list[str]]:
    users: dict[str, list[str]] = {}
    for question, draft in zip(questions, pool.drafts, strict=True):
        for text in dict.fromkeys(passage.text for passage in draft.passages):
            users.setdefault(text, []).append(question.question_id)
    return users
