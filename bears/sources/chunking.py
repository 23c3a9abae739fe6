"""Chroma's chunking evaluation: a few long documents, and questions with spans in them.

Part ``corpora``: texts, whose names without the ending are their ids. Part ``questions``: CSV with
``question``, ``corpus_id`` and ``references``, a JSON list of ``content``, ``start_index`` and
``end_index`` (characters of the text, the end exclusive).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from bears.files.intake.files import decoded, read_whole
from bears.identity import question_id
from bears.sources.parts import Parts, RowRecords, pool_document, pool_question
from bears.sources.rows import BadField, Ids, Row, check_row, not_blank
from bears.types import SourceQuestion, Span


class _Reference(TypedDict):
    content: str
    start_index: Annotated[int, Field(ge=0)]
    end_index: Annotated[int, Field(ge=0)]


class _QuestionRow(TypedDict):
    question: str
    corpus_id: str
    references: list[_Reference]


def read_chunking(parts: Parts) -> Iterator[RowRecords]:
    """Yield the texts, then the questions.

    A question has no id in the source and gets the version 5 UUID of ``q:{source}:{question}`` in
    the DNS namespace.

    Raises:
        MalformedRow: a field is missing, empty or of another form, a question is there twice, or
            its text is not among the texts.
        FormatError: a text is not UTF-8.
    """
    texts: dict[str, str] = {}
    for path in parts.tables["corpora"]:
        texts[path.stem] = decoded(read_whole(path), str(path))
        parts.count(path, 1)
        yield [pool_document(parts.dataset, path.stem, texts[path.stem])]
    known = Ids()

    def asked(given: Row) -> SourceQuestion:
        row: _QuestionRow = check_row(_QuestionRow, given)
        known.new(not_blank(row["question"], "question"), "question")
        name = row["corpus_id"]
        if name not in texts:
            raise BadField("corpus_id", f"there is no text {name!r}; there are {', '.join(texts)}")
        spans = tuple(
            Span(name, each["start_index"], each["end_index"], each["content"])
            for each in row["references"]
        )
        identifier = question_id(parts.name, row["question"])
        made = pool_question(parts.dataset, identifier, row["question"], "", {name: 1})
        return replace(made, question=replace(made.question, gold_spans=spans))

    for question in parts.each(asked, "questions"):
        yield [question]
