"""A user's own folder: of documents, or of ``queries.json`` and ``corpus.json``."""

from collections.abc import Iterator
from pathlib import Path

from bears.errors import MalformedRow, SourceError
from bears.files.records import read_questions, stream_documents
from bears.sources.folder.read import read_folder
from bears.sources.parts import Parts
from bears.sources.records import RowRecords, own_question
from bears.sources.rows import BadField, Ids, not_blank

CORPUS, QUERIES = "corpus.json", "queries.json"


def read_own(parts: Parts) -> Iterator[RowRecords]:
    """Yield the documents, then the questions.

    If the part ``folder`` has both files, its records are taken as they are; see
    `bears.types.Document` and `bears.types.Question`. Otherwise `read_folder` reads it.

    Raises:
        SourceError: it is not a folder, or has only one of the two files.
        BearsError: see `read_folder`.
        FormatError: a file has another format, naming the record and the field.
        MalformedRow: a question is empty, or an id is empty or used twice.
    """
    (folder,) = parts.tables["folder"]
    if not folder.is_dir():
        raise SourceError(f"source {parts.name}: {folder} is a file; name the folder that it is in")
    there = [name for name in (CORPUS, QUERIES) if (folder / name).exists()]
    if len(there) == 1:
        raise SourceError(
            f"source {parts.name}: {folder} has {there[0]} only; it needs both {CORPUS} and "
            f"{QUERIES}"
        )
    return _records(parts, folder) if there else read_folder(parts, folder)


def _records(parts: Parts, folder: Path) -> Iterator[RowRecords]:
    documents, questions = Ids(), Ids()
    path, number = folder / CORPUS, 0
    try:
        for number, document in enumerate(stream_documents(path), start=1):
            documents.new(document.doc_id, "doc_id")
            parts.count(path, number)
            yield [document]
        path = folder / QUERIES
        for number, question in enumerate(read_questions(path), start=1):
            questions.new(question.question_id, "question_id")
            not_blank(question.question, "question")
            parts.count(path, number)
            yield [own_question(question)]
    except BadField as bad:
        raise MalformedRow(path.name, number, bad.field, bad.problem) from None
