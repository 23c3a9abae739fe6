"""Sample a benchmark in its source languages from records and a mixture, and apply the ledger.

Each question of the sample owns a list of spares of its source. Spares share no paragraph with the
sample's questions or with each other. So a replacement depends on its own question alone: the order
of the ledger's entries does not matter, and replacing one question never changes another one. The
pool keeps its size: the last random negatives give their places, or more of them come.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from bears.config.ledger.entries import Edit, Ledger
from bears.errors import LedgerError, SamplingError
from bears.sampling.bears import bears_pool, passage_texts, questions_of
from bears.sampling.lineage import Sample, document_line, references_of
from bears.sampling.mixture import Mixture, PublishedRecipe, V1Recipe
from bears.sampling.v1 import Draft, Sources, V1Sample, as_published, sample_v1
from bears.types import Document, Question

SPARES_PER_QUESTION = 10


def apply_edits(
    questions: Sequence[Question], documents: Sequence[Document], edits: Iterable[Edit]
) -> tuple[list[Question], list[Document], list[Edit]]:
    """Apply corrections, at most one for each field of a record.

    Returns:
        The questions, the documents, and the edits whose record is not in this sample.

    Raises:
        LedgerError: a record's text differs from ``old``.
    """
    by_place: dict[tuple[str, str], Edit] = {(e.record_id, e.field): e for e in edits}
    edited_questions = [
        replace(
            q,
            question=_edited(by_place, q.question_id, "question", q.question),
            gold_answer=_edited(by_place, q.question_id, "gold_answer", q.gold_answer),
        )
        for q in questions
    ]
    edited_documents = [
        replace(d, content=_edited(by_place, d.doc_id, "content", d.content)) for d in documents
    ]
    return edited_questions, edited_documents, list(by_place.values())


def _edited(by_place: dict[tuple[str, str], Edit], record: str, name: str, text: str) -> str:
    edit = by_place.pop((record, name), None)
    if edit is None:
        return text
    if edit.old != text:
        raise LedgerError(
            f"ledger: {name} of {record} is {text!r:.80}, but the edit expects {edit.old!r:.80}; "
            "look at the record again, then change or remove the entry"
        )
    return edit.new


def replacing(v1: V1Sample, replaced: frozenset[str]) -> tuple[list[Draft], set[str]]:
    """Apply the ledger's replacements to the questions that v1 takes.

    Args:
        replaced: ids of the questions to replace; a replacement may be replaced as well.

    Returns:
        The questions, in the order of v1's, and those ids that match none of them.

    Raises:
        LedgerError: a question has no spare left.
    """
    drafts = [visit.draft for visit in v1.taken]
    if not replaced:
        return drafts, set()
    counts, ranks = Counter(draft.source for draft in drafts), Counter[str]()
    spares, unknown, chosen = _spares(v1, drafts), set(replaced), []
    for draft in drafts:
        own = iter(spares[draft.source][ranks[draft.source] :: counts[draft.source]])
        ranks[draft.source] += 1
        current: Draft | None = draft
        while current and current.question_id in replaced:
            unknown.discard(current.question_id)
            current = next(own, None)
        if current is None:
            raise LedgerError(
                f"ledger: question {draft.question_id} cannot be replaced: source {draft.source} "
                "has no further question that shares no paragraph with the benchmark; take a "
                "larger file, or remove the entry"
            )
        chosen.append(current)
    return chosen, unknown


def _spares(v1: V1Sample, drafts: Sequence[Draft]) -> dict[str, list[Draft]]:
    """Return questions that share no paragraph with these or with each other, by source."""
    taken, ids = passage_texts(drafts), {draft.question_id for draft in drafts}
    chosen: dict[str, list[Draft]] = {}
    for source, rest in v1.rest.items():
        wanted = SPARES_PER_QUESTION * sum(draft.source == source for draft in drafts)
        chosen[source] = list(islice(_disjoint(rest, taken, ids), wanted))
    return chosen


def _disjoint(drafts: Iterator[Draft], taken: set[str], ids: set[str]) -> Iterator[Draft]:
    for draft in drafts:
        texts, identifier = draft.texts, draft.question_id
        if draft.gold and identifier not in ids and texts.isdisjoint(taken):
            taken |= texts
            ids.add(identifier)
            yield draft


def sample(mixture: Mixture, sources: Sources, ledger: Ledger) -> Sample:
    """Sample a benchmark; a pure function of its arguments.

    Raises:
        SamplingError: the sources cannot give what the mixture asks for.
        LedgerError: an entry cannot be applied.
    """
    v1 = sample_v1(mixture, sources)
    skipped = (visit for visit in v1.visits if not visit.taken)
    passed_over = [{**visit.draft.origin, "reason": visit.reason} for visit in skipped]
    notes: dict[str, Any] = {
        "passed_over": count_reasons(passed_over),
        "passed_over_rows": passed_over,
    }
    if isinstance(mixture, V1Recipe):
        return _as_v1(mixture, sources, v1, ledger, notes)
    drafts, unknown = replacing(v1, ledger.replaced)
    pool = bears_pool(drafts, v1, mixture)
    pooled = [*pool.values()]
    asked = list(questions_of(drafts, pool))
    questions, documents, unused = apply_edits(asked, pooled, ledger.edits)
    unmatched = sorted(unknown) + sorted(edit.record_id for edit in unused)
    notes["unmatched_ledger_entries"] = unmatched
    return Sample(questions, documents, _lineage(drafts, pooled), notes)


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
    notes: dict[str, Any],
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
    return Sample(questions, documents, lineage, {**notes, "unmatched_ledger_entries": []})


def _question_line(draft: Draft) -> dict[str, Any]:
    line = {"record_id": draft.question_id, "kind": "question", **draft.origin}
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
        role = "hard_negative" if document.content in texts else "random_negative"
        rows.append(document_line(document, "gold" if document.is_gold else role, own))
    return rows
