"""The annotators' answers to a question, from sources with and without types of answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bears.files.records import read_lines
from bears.language.yes_no import yes_or_no
from bears.types import Answer, Question


def references_of(question: Question, language: str) -> tuple[Answer, ...]:
    """Return the annotators' answers, or else the gold answer as a yes or no or free form.

    Args:
        question: with its answers and gold.
        language: BCP 47 tag of the gold answer.
    """
    return question.answers or _typed([question.gold_answer], question, language)


def _typed(texts: Iterable[str], question: Question, language: str) -> tuple[Answer, ...]:
    """Give types to the texts of a source without them, and drop empty ones."""
    evidence = question.gold_doc_ids if question.judged else None
    return tuple(
        Answer("yes-no" if yes_or_no(text, language) else "free-form", text, evidence)
        for text in texts
        if text.strip()
    )


def with_references(
    questions: Iterable[Question], references: Mapping[str, Sequence[str]], language: str
) -> list[Question]:
    """Add the answers of further annotators to the questions.

    Args:
        questions: a question with answers of its own keeps them.
        references: question_id to its source's answers, the gold answer first. They are ignored
            if the gold answer has changed since, by translation or correction.
        language: BCP 47 tag of the answers.
    """
    found = []
    for question in questions:
        texts = references.get(question.question_id, ())
        if texts and texts[0] == question.gold_answer and not question.answers:
            question = replace(question, answers=_typed(texts, question, language))
        found.append(question)
    return found


def referenced(
    questions: Iterable[Question], lineage: Path | None, language: str
) -> list[Question]:
    """Return the questions with the answers of all annotators that ``lineage`` has.

    Args:
        questions: of the benchmark. Their gold is the evidence of an answer without its own.
        lineage: what `sample` noted about them, if it is there.
        language: BCP 47 tag of the answers.

    Raises:
        FormatError: a file is malformed.
    """
    rows = (row for _, row in read_lines(lineage)) if lineage else ()
    references = {row["record_id"]: row["references"] for row in rows if "references" in row}
    return with_references(questions, references, language)
