"""A user's own folder: of documents, or of ``queries.json`` and ``corpus.json``."""

from collections.abc import Iterator
from pathlib import Path

from bears.errors import MalformedRow, SourceError
from bears.files.intake.texts import blank
from bears.files.records import read_questions, stream_documents
from bears.sources.folder.read import read_folder
from bears.sources.parts import Parts
from bears.sources.records import PoolDocument, PoolQuestion
from bears.sources.rows import Ids
from bears.types import Document, Question

CORPUS, QUERIES = "corpus.json", "queries.json"


def read(parts: Parts) -> Iterator[Document | Question | PoolDocument | PoolQuestion]:
    """Yield the documents, then the questions.

    Part ``folder``: with both of the files its records are taken as they are, see
    `bears.types.Document` and `bears.types.Question`; else it is read as `read_folder` says.

    Raises:
        SourceError: it is no folder, or holds one of the two files alone.
        BearsError: as `read_folder`.
        FormatError: a file is no such file, naming the record and the field.
        MalformedRow: a question is empty, or an id is empty or stands twice.
    """
    (folder,) = parts.tables["folder"]
    if not isinstance(folder, Path) or not folder.is_dir():
        raise SourceError(f"source {parts.name}: {folder} is a file; name the folder that it is in")
    there = [name for name in (CORPUS, QUERIES) if (folder / name).exists()]
    if len(there) == 1:
        raise SourceError(
            f"source {parts.name}: {folder} has {there[0]}, and not both {CORPUS} and {QUERIES}"
        )
    return _records(parts, folder) if there else read_folder(parts, folder)


def _records(parts: Parts, folder: Path) -> Iterator[Document | Question]:
    known, asked = Ids(), Ids()
    path = folder / CORPUS
    for number, document in enumerate(stream_documents(path), start=1):
        known.new(document.doc_id, path.name, number, "doc_id")
        parts.count(path, number)
        yield document
    path = folder / QUERIES
    for number, question in enumerate(read_questions(path), start=1):
        asked.new(question.question_id, path.name, number, "question_id")
        if blank(question.question):
            raise MalformedRow(path.name, number, "question", "is empty")
        parts.count(path, number)
        yield question
