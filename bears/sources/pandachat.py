"""PandaChat-RAG-sl: questions that stand in the web pages which answer them, in Slovenian.

Part ``questions``: a JSON array of ``{query, answer, document, text, text_without_Q, …}``, with
bare NaN tokens where a cell is empty. A page that answers several questions stands in a row for
each. What is indexed is ``text_without_Q``: the page's text after every occurrence of every
question asked of it was taken out, and nothing else. Where that field is missing it is made so.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow, SourceError
from bears.identity import question_id
from bears.sources.parts import Parts
from bears.sources.records import PoolDocument, PoolQuestion
from bears.sources.rows import Ids, Row, check_row, not_blank, read_whole


class _Row(TypedDict):
    query: str
    answer: NotRequired[str | None]
    document: str
    text: str
    text_without_Q: NotRequired[str | None]


_SHAPE = TypeAdapter(_Row)


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield the pages, each once, then the questions.

    A page keeps its name as its id, since submissions name pages so; a question has none, and gets
    the version 5 UUID of ``q:{source}:{query}`` in the DNS namespace.

    Raises:
        MalformedRow: a field is missing, of another type or empty; a question stands twice; a page
            has another text than in an earlier row.
        SourceError: the file is no JSON array.
    """
    rows = list(_rows(parts))
    questions: dict[str, list[str]] = {}
    for _, _, row in rows:
        questions.setdefault(row["document"], []).append(row["query"])
    texts: dict[str, str] = {}
    for file, number, row in rows:
        name = row["document"]
        text = row.get("text_without_Q") or without(row["text"], questions[name])
        if texts.setdefault(name, text) != text:
            problem = f"the page {name!r} has another text in an earlier row"
            raise MalformedRow(file, number, "text_without_Q", problem)
    yield from (PoolDocument(name, text) for name, text in texts.items())
    for _, _, row in rows:
        identifier = question_id(parts.name, row["query"])
        yield PoolQuestion(
            identifier, row["query"], row.get("answer") or "", ((row["document"], 1),)
        )


def without(text: str, questions: list[str]) -> str:
    """``text`` after every occurrence of each question was taken out, one after the other."""
    for question in questions:
        text = text.replace(question, "")
    return text


def _rows(parts: Parts) -> Iterator[tuple[str, int, _Row]]:
    asked = Ids()

    def made(file: str, number: int, value: Row) -> tuple[str, int, _Row]:
        row: _Row = check_row(_SHAPE, value, file, number)
        for name in ("document", "text"):
            not_blank(row[name], file, number, name)
        asked.new(row["query"], file, number, "query")
        return file, number, row

    return parts.each(made, "questions", _values)


def _values(path: Path) -> Iterator[tuple[int, Any]]:
    values = read_whole(path)
    if not isinstance(values, list):
        found = type(values).__name__
        raise SourceError(f"{path}: expected a JSON array of rows, found {found}")
    return enumerate(values, start=1)
