"""The documents of each question, best first: those that were retrieved, the gold ones, or none."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from bears.answers.settings import GeneratorSettings
from bears.errors import FormatError
from bears.files.records import stream_documents
from bears.files.trec import read_table
from bears.types import Document, Question

Ids = Mapping[str, Sequence[str]]


def documents_of(
    questions: Sequence[Question], corpus: Path, run: Path, settings: GeneratorSettings
) -> dict[str, list[Document]]:
    """question_id to at most ``settings.documents`` documents, for every question.

    Gold documents come by falling grade.

    Raises:
        FormatError: the corpus lacks a document, or a file cannot be read.
    """
    ids = _ids(questions, run, settings)
    wanted = {doc_id for each in ids.values() for doc_id in each}
    found = {each.doc_id: each for each in stream_documents(corpus) if each.doc_id in wanted}
    if lacking := sorted(wanted - found.keys()):
        raise FormatError(
            f"{corpus} lacks {len(lacking)} documents of the run, such as {lacking[0]!r:.80}; the "
            "run is of another benchmark: `dvc repro retrieve` makes it anew"
        )
    return {key: [found[doc_id] for doc_id in each] for key, each in ids.items()}


def _ids(questions: Sequence[Question], run: Path, settings: GeneratorSettings) -> Ids:
    most = settings.documents
    if settings.context == "none":
        return {question.question_id: () for question in questions}
    if settings.context == "gold":
        return {question.question_id: _gold(question)[:most] for question in questions}
    return _first(run, [question.question_id for question in questions], most)


def _gold(question: Question) -> list[str]:
    grades = question.grades
    return sorted(grades, key=lambda doc_id: -grades[doc_id])


def _first(run: Path, question_ids: Sequence[str], most: int) -> Ids:
    """The first documents of each ranking, without a copy of the rest of it."""
    table = read_table(run, question_ids)
    ends = zip(table.question_ids, table.starts[:-1], table.starts[1:], strict=True)
    rows = {key: table.documents[first : min(first + most, end)] for key, first, end in ends}
    return {
        key: [table.doc_ids[code] for code in rows[key]] if key in rows else ()
        for key in question_ids
    }
