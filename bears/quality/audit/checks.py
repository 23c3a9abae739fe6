"""What is odd about single questions and documents, for a person to look at."""

from collections.abc import Iterator, Mapping, Sequence

from bears.language.tags import unspaced
from bears.language.text import has_content
from bears.quality.audit.candidates import AuditSettings
from bears.quality.audit.duplicates import Overlap
from bears.quality.audit.pool import AuditPool
from bears.types import Finding

LEAST_ASKED = 6
"""A shorter question stands in a document by chance, as a heading."""
Rankings = Mapping[str, Sequence[str]]
"""question_id to the doc_ids that a retriever found, best first."""


def question_texts(pool: AuditPool, settings: AuditSettings) -> Iterator[Finding]:
    """No question is without words, too long, or asked twice in other spelling."""
    longest = settings.longest_question * (2 if unspaced(pool.language) else 1)
    asked: dict[tuple[object, ...], str] = {}
    for one in pool.questions:
        normal = pool.normal(one.question)
        if not has_content(one.question):
            message = f"asks nothing: {one.question!r:.60}"
            yield Finding("question_without_words", "warning", one.question_id, message, "question")
            continue
        if (words := len(normal.split())) > longest:
            message = f"has {words} words; more than {longest} are seldom one question"
            yield Finding("question_too_long", "warning", one.question_id, message, "question")
        # After other words, or of another paper, the same words ask something else.
        first = asked.setdefault((normal, one.turns, one.group), one.question_id)
        if first != one.question_id:
            message = f"asks the same as {first}"
            yield Finding("question_repeated", "warning", one.question_id, message, "question")


def answers_in_no_gold(pool: AuditPool) -> Iterator[Finding]:
    """An answer stands in a gold document of its question, as it is or before translation.

    Not looked for are answers that annotators wrote in words of their own.
    """
    for one in pool.questions:
        answer, gold = pool.sought.get(one.question_id), pool.gold(one)
        free = one.answers and all(given.type != "extractive" for given in one.answers)
        if answer is None or not gold or free:
            continue
        if not any(pool.holds(doc_id, answer) for doc_id in gold):
            message = f"the answer {one.gold_answer!r:.60} stands in no gold document"
            yield Finding("answer_in_no_gold", "warning", one.question_id, message, "gold_answer")


def one_document_suffices(pool: AuditPool, settings: AuditSettings) -> Iterator[Finding]:
    """A multi-hop question needs more than one of its gold documents."""
    for one in pool.questions:
        answer, gold = pool.sought.get(one.question_id), pool.gold(one)
        if one.question_type != "multi-hop" or answer is None or len(gold) < 2:
            continue
        asked = pool.terms_of_text(one.question)
        for doc_id in gold:
            share = pool.share(asked, asked, pool.terms(doc_id))
            if share >= settings.one_document and pool.holds(doc_id, answer):
                message = f"{doc_id} has the answer and {share:.0%} of the question by itself"
                yield Finding("one_document_suffices", "warning", one.question_id, message)


def questions_in_documents(pool: AuditPool, rankings: Rankings) -> Iterator[Finding]:
    """No document holds a question to the letter. An error where the translation made it so."""
    for one in pool.questions:
        asked, raw = pool.normal(one.question), pool.normal(pool.raw(one).question)
        for doc_id in rankings.get(one.question_id, ()):
            if _holds(pool.normal(pool.contents[doc_id]), asked):
                made = not _holds(pool.normal(pool.raw_content(doc_id)), raw)
                severity, told = (
                    ("error", "; before translation it did not") if made else ("warning", "")
                )
                message = f"{doc_id} holds the question to the letter{told}"
                check = "question_leaked" if made else "question_in_document"
                yield Finding(check, severity, one.question_id, message, "question")  # type: ignore[arg-type]


def _holds(content: str, question: str) -> bool:
    return len(question.split()) >= LEAST_ASKED and question in content


def documents_alike(doc_ids: Sequence[str], found: Sequence[Overlap]) -> Iterator[Finding]:
    """No document stands, whole or nearly, in another one."""
    for overlap in found:
        check = "duplicate_document" if overlap.equal else "near_duplicate"
        message = f"{overlap.share:.0%} of it stands in {doc_ids[overlap.other]}"
        yield Finding(check, "warning", doc_ids[overlap.smaller], message)
