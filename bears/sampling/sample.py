"""Sample a benchmark in its source languages from records and a mixture, and apply the ledger.

Each question of the sample owns a list of spares of its source, and lists of unused and of used
random negatives, which belong to no other question. Spares share no paragraph with the sample or
with each other. So a replacement depends on its own question alone: the order of the ledger's
entries does not matter, and replacing one question never changes another's records.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from bears.config.ledger.entries import Edit, Ledger
from bears.errors import LedgerError, SamplingError
from bears.sampling.bears import Pool, bears_pool, passage_texts, question_documents, questions_of
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


@dataclass(frozen=True)
class _Slot:
    """The spares and negatives that one question of the sample owns.

    Args:
        draft: the question itself.
        own: documents that only this question uses, in pool order.
        shared: documents that earlier questions use too, and no later one.
        spares: questions that may replace it; those that need no more places go first.
        fillers: unused random negatives that may fill a place.
        surplus: random negatives of the pool that may give their place up, last one first.
    """

    draft: Draft
    own: list[str]
    shared: list[str]
    spares: list[Draft]
    fillers: list[Document]
    surplus: list[str]


def replace_questions(
    pool: Pool, rest: dict[str, Iterator[Draft]], replaced: frozenset[str]
) -> tuple[Pool, set[str]]:
    """Apply the ledger's replacements to a sample.

    Args:
        pool: the sample.
        rest: for each source the drafts that were not visited.
        replaced: ids of the questions to replace; a replacement may be replaced as well.

    Returns:
        The new sample of the same size, and those ids that match none of its questions.

    Raises:
        LedgerError: a question has no spare left.
    """
    if not replaced:
        return pool, set()
    unknown = set(replaced)
    drafts: list[Draft] = []
    changed: list[tuple[_Slot, Draft]] = []
    for slot in _slots(pool, rest):
        chosen = _replacement(slot, replaced, unknown)
        drafts.append(chosen)
        if chosen is not slot.draft:
            changed.append((slot, chosen))
    return _rebuilt(pool, drafts, changed), unknown


def _slots(pool: Pool, rest: dict[str, Iterator[Draft]]) -> Iterator[_Slot]:
    half = len(pool.spare_negatives) // 2
    fillers = pool.spare_negatives[:half]
    spares = _spares(pool, rest, {negative.content for negative in fillers})
    used = passage_texts(pool.drafts)
    unclaimed_fillers = iter(fillers)
    unclaimed_surplus = (text for text in reversed(pool.order) if text not in used)
    counts = Counter(draft.source for draft in pool.drafts)
    ranks: Counter[str] = Counter()
    for position, draft in enumerate(pool.drafts):
        own, shared = _owned_texts(pool, position)
        chain = spares[draft.source][ranks[draft.source] :: counts[draft.source]]
        ranks[draft.source] += 1
        sizes = [len(spare.texts) for spare in chain] or [0]
        lacking = max(0, len(own) - min(sizes)) + len(shared)
        yield _Slot(
            draft,
            own,
            shared,
            chain,
            list(islice(unclaimed_fillers, lacking)),
            list(islice(unclaimed_surplus, max(0, max(sizes) - len(own)))),
        )


def _spares(
    pool: Pool, rest: dict[str, Iterator[Draft]], reserved: set[str]
) -> dict[str, list[Draft]]:
    """Return drafts that share no text with the sample, with ``reserved`` or with each other."""
    taken = set(pool.order) | reserved
    ids = {d.question_id for d in pool.drafts}
    chosen: dict[str, list[Draft]] = {}
    for source, drafts in rest.items():
        wanted = SPARES_PER_QUESTION * sum(d.source == source for d in pool.drafts)
        chosen[source] = list(islice(_disjoint(drafts, taken, ids), wanted))
    return chosen


def _disjoint(drafts: Iterator[Draft], taken: set[str], ids: set[str]) -> Iterator[Draft]:
    for draft in drafts:
        texts = draft.texts
        if not draft.gold or texts & taken:
            continue
        if (identifier := draft.question_id) not in ids:
            taken |= texts
            ids.add(identifier)
            yield draft


def _owned_texts(pool: Pool, position: int) -> tuple[list[str], list[str]]:
    earlier = passage_texts(pool.drafts[:position])
    later = passage_texts(pool.drafts[position + 1 :])
    last_used_here = pool.drafts[position].texts - later
    texts = [text for text in pool.order if text in last_used_here]
    return [t for t in texts if t not in earlier], [t for t in texts if t in earlier]


def _replacement(slot: _Slot, replaced: frozenset[str], unknown: set[str]) -> Draft:
    current = slot.draft
    spares = iter(sorted(slot.spares, key=lambda d: len(d.texts) > len(slot.own)))
    while (identifier := current.question_id) in replaced:
        unknown.discard(identifier)
        following = next(spares, None)
        if following is None:
            raise LedgerError(
                f"ledger: question {identifier} cannot be replaced: source {current.source} has "
                "no further question that shares no paragraph with the benchmark; take a larger "
                "file, or remove the entry"
            )
        current = following
    return current


def _rebuilt(pool: Pool, drafts: list[Draft], changed: list[tuple[_Slot, Draft]]) -> Pool:
    documents = dict(pool.documents)
    order = list(pool.order)
    place = {text: position for position, text in enumerate(pool.order)}
    used = passage_texts(drafts)
    for slot, chosen in changed:
        new = question_documents([chosen])
        given_up = slot.surplus[: max(0, len(new) - len(slot.own))]
        # After the new documents, so that one more orphan never moves them.
        orphans = [text for text in slot.shared if text not in used]
        places = [place[text] for text in [*slot.own, *given_up, *orphans]]
        new |= _fillers(slot, len(places) - len(new))
        documents |= new
        for position, text in zip(places, new, strict=True):
            order[position] = text
    gold = {passage.text for draft in drafts for passage in draft.gold}
    kept = {text: replace(documents[text], is_gold=text in gold) for text in order}
    return Pool(drafts, order, kept, pool.spare_negatives)


def _fillers(slot: _Slot, count: int) -> dict[str, Document]:
    if not 0 <= count <= len(slot.fillers):
        raise LedgerError(
            f"ledger: question {slot.draft.question_id} cannot be "
            "replaced: there are too few random negatives to keep the number of documents; name "
            "more sources under sample.negatives, or remove the entry"
        )
    return {negative.content: negative for negative in slot.fillers[:count]}


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
    pool, unknown = replace_questions(bears_pool(v1, mixture), v1.rest, ledger.replaced)
    pooled = [pool.documents[text] for text in pool.order]
    asked = list(questions_of(pool.drafts, pool.documents))
    questions, documents, unused = apply_edits(asked, pooled, ledger.edits)
    unmatched = sorted(unknown) + sorted(edit.record_id for edit in unused)
    notes["unmatched_ledger_entries"] = unmatched
    return Sample(questions, documents, _lineage(pool.drafts, pooled), notes)


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
