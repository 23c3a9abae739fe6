"""The annotators' answers of a question, whether its source has types or not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bears.files.records import read_lines, read_questions
from bears.language.yes_no import yes_or_no
from bears.types import Answer, Question


def references_of(question: Question, language: str) -> tuple[Answer, ...]:
    """The annotators' answers, or the gold answer, a yes or no or free form, where there are none.

    Args:
        question: with its answers and gold.
        language: BCP 47 tag of the gold answer.
    """
    if question.answers:
        return question.answers
    return answers_of([question.gold_answer], question.gold_doc_ids, language)


def answers_of(
    texts: Iterable[str], evidence: tuple[str, ...], language: str
) -> tuple[Answer, ...]:
    """Answers of a source that has no types; empty texts are none."""
    return tuple(
        Answer("yes-no" if yes_or_no(text, language) else "free-form", text, evidence)
        for text in texts
        if text.strip()
    )


def with_references(
    questions: Iterable[Question], references: Mapping[str, Sequence[str]], language: str
) -> list[Question]:
    """The questions with what further annotators answered, where that is known.

    Args:
        questions: a question that has answers of its own keeps them.
        references: question_id to its source's answers, the gold answer first. Where the gold
            answer is another one by now, translated or corrected, they are not its equals.
        language: BCP 47 tag of the answers.
    """
    found = []
    for question in questions:
        texts = references.get(question.question_id, ())
        if texts and texts[0] == question.gold_answer and not question.answers:
            answers = answers_of(texts, question.gold_doc_ids, language)
            question = replace(question, answers=answers)
        found.append(question)
    return found


def read_referenced(queries: Path, lineage: Path | None, language: str) -> list[Question]:
    """Questions with the answers of all annotators that ``lineage`` knows of.

    Args:
        queries: the questions.
        lineage: what `sample` noted of them, where that is there.
        language: BCP 47 tag of the answers.

    Raises:
        FormatError: a file is malformed.
    """
    rows = (row for _, row in read_lines(lineage)) if lineage else ()
    references = {row["record_id"]: row["references"] for row in rows if "references" in row}
    return with_references(read_questions(queries), references, language)
