"""Audit a benchmark: what may be wrong with its gold, its questions and its documents."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.config.ledger.entries import PairDecision
from bears.language.overlap import Overlap, overlaps
from bears.language.tags import unspaced
from bears.language.text import has_content
from bears.quality.audit.audit_pool import AuditPool, AuditSettings, Candidate, Candidates
from bears.types import Finding

LEAST_ASKED = 6
"""A shorter question occurs in a document by chance, for example as a heading."""
Rankings = Mapping[str, Sequence[str]]
"""question_id to the doc_ids that a retriever found, best first."""


def question_texts(pool: AuditPool, settings: AuditSettings) -> Iterator[Finding]:
    """Find questions that have no words, are too long, or repeat another one in other spelling."""
    longest = settings.longest_question * (2 if unspaced(pool.language) else 1)
    asked: dict[tuple[object, ...], str] = {}
    for question in pool.questions:
        normal, record_id = pool.normal(question.question), question.question_id
        if not has_content(question.question):
            message = f"asks nothing: {question.question!r:.60}"
            yield Finding("question_without_words", "warning", record_id, message, "question")
            continue
        if (words := len(normal.split())) > longest:
            message = f"has {words} words; more than {longest} are seldom one question"
            yield Finding("question_too_long", "warning", record_id, message, "question")
        # The same words ask something else of another paper, or later in another conversation.
        first = asked.setdefault((normal, question.turns, question.group), record_id)
        if first != record_id:
            message = f"asks the same as {first}"
            yield Finding("question_repeated", "warning", record_id, message, "question")


def answers_in_no_gold(pool: AuditPool) -> Iterator[Finding]:
    """Find answers that are in no gold document, neither as they are nor before translation.

    Answers that annotators wrote in words of their own are skipped.
    """
    for question in pool.questions:
        answer, gold = pool.sought.get(question.question_id), pool.gold(question)
        free = question.answers and all(given.type != "extractive" for given in question.answers)
        if answer is None or not gold or free:
            continue
        if not any(pool.holds(doc_id, answer) for doc_id in gold):
            message = f"the answer {question.gold_answer!r:.60} is in no gold document"
            record_id = question.question_id
            yield Finding("answer_in_no_gold", "warning", record_id, message, "gold_answer")


def one_document_suffices(pool: AuditPool, settings: AuditSettings) -> Iterator[Finding]:
    """Find multi-hop questions that one of their gold documents answers alone."""
    for question in pool.questions:
        answer, gold = pool.sought.get(question.question_id), pool.gold(question)
        if question.question_type != "multi-hop" or answer is None or len(gold) < 2:
            continue
        asked = pool.terms_of_text(question.question)
        for doc_id in gold:
            share = pool.share(asked, asked, pool.terms(doc_id))
            if share >= settings.one_document and pool.holds(doc_id, answer):
                message = f"{doc_id} has the answer and {share:.0%} of the question by itself"
                yield Finding("one_document_suffices", "warning", question.question_id, message)


def questions_in_documents(pool: AuditPool, rankings: Rankings) -> Iterator[Finding]:
    """Find documents that contain a question to the letter.

    It is an error if only the translated document does.
    """
    for question in pool.questions:
        record_id = question.question_id
        asked, raw = pool.normal(question.question), pool.normal(pool.raw(question).question)
        for doc_id in rankings.get(record_id, ()):
            if not _holds(pool.normal(pool.contents[doc_id]), asked):
                continue
            message = f"{doc_id} holds the question to the letter"
            if _holds(pool.normal(pool.raw_content(doc_id)), raw):
                yield Finding("question_in_document", "warning", record_id, message, "question")
            else:
                message += "; before translation it did not"
                yield Finding("question_leaked", "error", record_id, message, "question")


def _holds(content: str, question: str) -> bool:
    return len(question.split()) >= LEAST_ASKED and question in content


def documents_alike(doc_ids: Sequence[str], found: Sequence[Overlap]) -> Iterator[Finding]:
    """Find documents that another one contains, whole or nearly."""
    for overlap in found:
        check = "duplicate_document" if overlap.equal else "near_duplicate"
        message = f"{overlap.share:.0%} of it is in {doc_ids[overlap.other]}"
        yield Finding(check, "warning", doc_ids[overlap.smaller], message)


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
    for candidate in _like_gold(pool, ids, alike):
        found[candidate.question_id, candidate.doc_id] = candidate
    order = {question.question_id: place for place, question in enumerate(pool.questions)}
    candidates = [
        replace(candidate, decision=decided[place].decision) if place in decided else candidate
        for place, candidate in sorted(found.items(), key=lambda item: (order[item[0][0]], item[0]))
    ]
    findings = [
        *question_texts(pool, settings),
        *answers_in_no_gold(pool),
        *one_document_suffices(pool, settings),
        *questions_in_documents(pool, rankings),
        *documents_alike(ids, alike),
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
    pool: AuditPool, ids: Sequence[str], alike: Sequence[Overlap]
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
                if (
                    answers
                    and doc_id not in question.gold_doc_ids
                    and pool.asked_of(question, gold_id) <= set(pool.terms(doc_id))
                ):
                    same = round(pair.share, 3)
                    yield Candidate(
                        question.question_id, doc_id, {"near_duplicate_of": gold_id, "same": same}
                    )
