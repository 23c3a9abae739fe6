"""Audit a benchmark: what may be wrong with its gold, its questions and its documents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.config.ledger.entries import PairDecision
from bears.language.overlap import Overlap, overlaps
from bears.language.tags import unspaced
from bears.quality.audit import checks
from bears.quality.audit.audit_pool import AuditPool
from bears.quality.audit.candidates import AuditSettings, Candidate, Candidates
from bears.quality.audit.checks import Rankings
from bears.types import Finding


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    Attributes:
        candidates: by question, in the order of the questions.
        findings: everything else.
        every: of all passages of documents, every how many-th was compared.
    """

    candidates: Sequence[Candidate]
    findings: Sequence[Finding]
    every: int


def audit(
    pool: AuditPool, rankings: Rankings, settings: AuditSettings, judgements: Iterable[PairDecision]
) -> Audit:
    """Find what a person should look at.

    Args:
        pool: to audit.
        rankings: question_id to the doc_ids of a retriever, best first.
        settings: of the configuration.
        judgements: decisions of people.
    """
    decided = {judgement.place[:2]: judgement for judgement in judgements}
    ids = list(pool.contents)
    width = settings.shingle // 3 if unspaced(pool.language) else settings.shingle
    alike, every = overlaps(
        list(pool.contents.values()), width, settings.same, settings.repeated_passage
    )
    finder = Candidates(pool, settings)
    found: dict[tuple[str, str], Candidate] = {}
    for question in pool.questions:
        for candidate in finder.of(question, rankings.get(question.question_id, ())):
            found[candidate.question_id, candidate.doc_id] = candidate
    for candidate in _like_gold(pool, ids, alike, settings.subject):
        found[candidate.question_id, candidate.doc_id] = candidate
    order = {question.question_id: place for place, question in enumerate(pool.questions)}
    candidates = [
        replace(candidate, decision=decided[place].decision) if place in decided else candidate
        for place, candidate in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0]))
    ]
    findings = [
        *checks.question_texts(pool, settings),
        *checks.answers_in_no_gold(pool),
        *checks.one_document_suffices(pool, settings),
        *checks.questions_in_documents(pool, rankings),
        *checks.documents_alike(ids, alike),
        *_without_record(pool, order, decided.values()),
    ]
    return Audit(candidates, findings, every)


def summarize(found: Audit, findings: Sequence[Finding], pool: AuditPool) -> dict[str, Any]:
    """Count the findings and decisions, and the questions and documents that were audited.

    Args:
        found: the audit.
        findings: those of ``found``, with their final severity.
        pool: that was audited.
    """
    decisions = Counter(candidate.decision or "undecided" for candidate in found.candidates)
    severities = Counter(finding.severity for finding in findings)
    return {
        "questions": len(pool.questions),
        "answers_looked_for": len(pool.sought),
        "documents": len(pool.contents),
        "one_passage_compared_in": found.every,
        "candidates": len(found.candidates),
        "questions_with_candidates": len({found.question_id for found in found.candidates}),
        "decisions": dict(sorted(decisions.items())),
        "errors": severities["error"],
        "warnings": severities["warning"],
        "accepted": severities["accepted"],
        "findings": dict(sorted(Counter(finding.check for finding in findings).items())),
    }


def _like_gold(
    pool: AuditPool, ids: Sequence[str], alike: Sequence[Overlap], subject: float
) -> Iterator[Candidate]:
    """Yield documents that contain a gold document, and parts of one that contain the answer."""
    asking = defaultdict(list)
    for question in pool.questions:
        for doc_id in pool.gold(question):
            asking[doc_id].append(question)
    for pair in alike:
        smaller, other = ids[pair.smaller], ids[pair.other]
        for gold_id, doc_id in ((smaller, other), (other, smaller)):
            for question in asking[gold_id]:
                answer = pool.sought.get(question.question_id)
                answers = gold_id == smaller or (answer and pool.holds(doc_id, answer))
                # Articles written to one pattern differ only in the name.
                if (
                    answers
                    and doc_id not in question.gold_doc_ids
                    and pool.asked_of(question, gold_id) <= set(pool.terms(doc_id))
                    and pool.names_subject(question, gold_id, doc_id, subject)
                ):
                    same = round(pair.share, 3)
                    yield Candidate(
                        question.question_id, doc_id, {"near_duplicate_of": gold_id, "same": same}
                    )


def _without_record(
    pool: AuditPool, questions: Mapping[str, int], decided: Iterable[PairDecision]
) -> Iterator[Finding]:
    for pair in decided:
        if pair.question_id not in questions or pair.doc_id not in pool.contents:
            message = f"the ledger judges {pair.doc_id} for it, and the benchmark lacks one of them"
            yield Finding("decision_without_record", "warning", pair.question_id, message)
