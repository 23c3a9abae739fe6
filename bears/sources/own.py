"""Benchmarks in BEARS' own format: ``queries.json`` and ``corpus.json``, records unchanged."""

from __future__ import annotations

from collections.abc import Iterator

from bears.errors import MalformedRow
from bears.formats.records import read_questions, stream_documents
from bears.sources.parts import Parts
from bears.types import Document, Question


def read(parts: Parts) -> Iterator[Document | Question]:
    """Yield the documents, then the questions.

    Parts: ``corpus`` and ``queries``, see `bears.types.Document` and `bears.types.Question`.

    Raises:
        FormatError: a file is no such file, naming the record and the field.
        MalformedRow: a question is empty, or an id stands twice.
    """
    for path in parts.paths["corpus"]:
        known: set[str] = set()
        for number, document in enumerate(stream_documents(path), start=1):
            _check_new(document.doc_id, known, path.name, number, "doc_id")
            parts.count(path, number)
            yield document
    for path in parts.paths["queries"]:
        asked: set[str] = set()
        for number, question in enumerate(read_questions(path), start=1):
            _check_new(question.question_id, asked, path.name, number, "question_id")
            if not question.question.strip():
                raise MalformedRow(path.name, number, "question", "is empty")
            parts.count(path, number)
            yield question


def _check_new(identifier: str, known: set[str], file: str, number: int, field: str) -> None:
    if identifier in known:
        raise MalformedRow(file, number, field, f"{identifier!r} stands in an earlier record too")
    known.add(identifier)
