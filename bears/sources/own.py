"""Benchmarks in BEARS' own format: ``queries.json`` and ``corpus.json``, records unchanged."""

from collections.abc import Iterator

from bears.errors import MalformedRow
from bears.formats.records import read_questions, stream_documents
from bears.intake.texts import blank
from bears.sources.parts import Parts
from bears.sources.rows import Ids
from bears.types import Document, Question


def read(parts: Parts) -> Iterator[Document | Question]:
    """Yield the documents, then the questions.

    Parts: ``corpus`` and ``queries``, see `bears.types.Document` and `bears.types.Question`.

    Raises:
        FormatError: a file is no such file, naming the record and the field.
        MalformedRow: a question is empty, or an id is empty or stands twice.
    """
    known, asked = Ids(), Ids()
    for path in parts.paths["corpus"]:
        for number, document in enumerate(stream_documents(path), start=1):
            known.new(document.doc_id, path.name, number, "doc_id")
            parts.count(path, number)
            yield document
    for path in parts.paths["queries"]:
        for number, question in enumerate(read_questions(path), start=1):
            asked.new(question.question_id, path.name, number, "question_id")
            if blank(question.question):
                raise MalformedRow(path.name, number, "question", "is empty")
            parts.count(path, number)
            yield question
