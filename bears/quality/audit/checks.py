"""Find oddities in single questions and documents, for a person to look at."""

from collections.abc import Iterator, Mapping, Sequence

from bears.language.overlap import Overlap
from bears.language.tags import unspaced
from bears.language.text import has_content
from bears.quality.audit.audit_pool import AuditPool
from bears.quality.audit.candidates import AuditSettings
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
