"""An audit of a benchmark: what may be wrong with its gold, its questions and its documents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.config.ledger.entries import PairDecision
from bears.language.tags import unspaced
from bears.quality.audit import checks
from bears.quality.audit.candidates import AuditSettings, Candidate, Candidates
from bears.quality.audit.checks import Rankings
from bears.quality.audit.duplicates import Overlap, overlaps
from bears.quality.audit.pool import AuditPool
from bears.types import Finding


@dataclass(frozen=True)
class Audit:
    """What was found.

    Attributes:
        candidates: by question, in the order of the questions.
        findings: everything else.
        every: one in so many passages of the documents was compared with the others.
    """

    candidates: Sequence[Candidate]
    findings: Sequence[Finding]
    every: int


def audit(
    pool: AuditPool, rankings: Rankings, settings: AuditSettings, judgements: Iterable[PairDecision]
) -> Audit:
    """Look for what a person should look at.

    Args:
        rankings: question_id to the doc_ids of a retriever, best first.
        judgements: what persons decided.
    """
    decided = {one.place: one for one in judgements}
    ids = list(pool.contents)
    width = settings.shingle // 3 if unspaced(pool.language) else settings.shingle
    alike, every = overlaps(
        list(pool.contents.values()), width, settings.same, settings.repeated_passage
    )
    found = {
        (one.question_id, one.doc_id): one
        for one in (
            *_that_may_answer(pool, rankings, settings),
            *_like_gold(pool, ids, alike, settings.subject),
        )
    }
    order = {one.question_id: place for place, one in enumerate(pool.questions)}
    candidates = [
        replace(one, decision=decided[place].decision) if place in decided else one
        for place, one in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0][1]))
    ]
    findings = [
        *checks.question_texts(pool, settings),
        *checks.answers_in_no_gold(pool),
        *checks.one_document_suffices(pool, settings),
        *checks.questions_in_documents(pool, rankings),
        *checks.documents_alike(ids, alike),
        *_gone(pool, order, decided.values()),
    ]
    return Audit(candidates, findings, every)


def summarise(found: Audit, findings: Sequence[Finding], pool: AuditPool) -> dict[str, Any]:
    """Counts of what was found, what of it was decided, and of how many questions and documents.

    Args:
        findings: those of ``found``, with the severity that they have in the end.
    """
    decisions = Counter(one.decision or "undecided" for one in found.candidates)
    severities = Counter(finding.severity for finding in findings)
    return {
        "questions": len(pool.questions),
        "answers_looked_for": len(pool.sought),
        "documents": len(pool.contents),
        "one_passage_compared_in": found.every,
        "candidates": len(found.candidates),
        "questions_with_candidates": len({one.question_id for one in found.candidates}),
        "decisions": dict(sorted(decisions.items())),
        "errors": severities["error"],
        "warnings": severities["warning"],
        "accepted": severities["accepted"],
        "findings": dict(sorted(Counter(finding.check for finding in findings).items())),
    }


def _that_may_answer(
    pool: AuditPool, rankings: Rankings, settings: AuditSettings
) -> Iterator[Candidate]:
    finder = Candidates(pool, settings)
    for one in pool.questions:
        yield from finder.of(one, rankings.get(one.question_id, ()))


def _like_gold(
    pool: AuditPool, ids: Sequence[str], alike: Sequence[Overlap], subject: float
) -> Iterator[Candidate]:
    """Documents that hold a gold document, and parts of one that have the answer."""
    asking = defaultdict(list)
    for one in pool.questions:
        for doc_id in pool.gold(one):
            asking[doc_id].append(one)
    for pair in alike:
        smaller, other = ids[pair.smaller], ids[pair.other]
        for gold_id, doc_id in ((smaller, other), (other, smaller)):
            for one in asking[gold_id]:
                answer = pool.sought.get(one.question_id)
                answers = gold_id == smaller or (answer and pool.holds(doc_id, answer))
                # Stubs of one form differ in the name alone.
                if (
                    answers
                    and doc_id not in one.gold_doc_ids
                    and pool.asked_of(one, gold_id) <= set(pool.terms(doc_id))
                    and pool.names_subject(one, gold_id, doc_id, subject)
                ):
                    same = round(pair.share, 3)
                    yield Candidate(
                        one.question_id, doc_id, {"near_duplicate_of": gold_id, "same": same}
                    )


def _gone(
    pool: AuditPool, questions: Mapping[str, int], decided: Iterable[PairDecision]
) -> Iterator[Finding]:
    for one in decided:
        if one.question_id not in questions or one.doc_id not in pool.contents:
            message = f"the ledger judges {one.doc_id} for it, and the benchmark lacks one of them"
            yield Finding("decision_without_record", "warning", one.question_id, message)
