"""Benchmarks in BEIR's layout (Thakur et al. 2021, arXiv:2104.08663).

Parts: ``corpus`` with rows ``{_id, title, text}``, ``queries`` with rows ``{_id, text}``, both as
JSON Lines or parquet, and ``qrels``: tab-separated ``query-id, corpus-id, score`` with or without
that header, TREC's four columns, or parquet with those columns. A document's text is its title, a
space and its text, as BEIR's own retrievers index it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired

from pydantic import StrictInt, StrictStr, TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow, SourceError
from bears.sources.parts import Parts
from bears.sources.rows import Numbered, check_row, opened
from bears.types import Judgement, PoolDocument, PoolQuestion

COLUMNS = ("query-id", "corpus-id", "score")
HEADERS = ("score", "relevance", "grade", "label", "rel")


# Ids are texts; people who write such files by hand also write numbers.
class _CorpusRow(TypedDict):
    _id: StrictStr | StrictInt
    title: NotRequired[str | None]
    text: str


class _QueryRow(TypedDict):
    _id: StrictStr | StrictInt
    text: str


_CORPUS, _QUERY = TypeAdapter(_CorpusRow), TypeAdapter(_QueryRow)


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion | Judgement]:
    """Yield documents, then questions, then the judgements of the split.

    Raises:
        MalformedRow: naming file, row and field: a field is missing or of another type, an id is
            empty or stands twice, a question is empty, a grade is no whole number, a judgement
            names an unknown question or contradicts an earlier one.
        SourceError: a part is empty.
    """
    yield from _documents(parts)
    known: set[str] = set()
    yield from _questions(parts, known)
    found: dict[tuple[str, str], int] = {}
    for file, number, question, document, grade in _judgements(parts):
        if question not in known:
            problem = f"the query {question!r} is not among the queries"
            raise MalformedRow(file, number, COLUMNS[0], problem)
        if (earlier := found.setdefault((question, document), grade)) != grade:
            problem = f"{grade}, but an earlier row gives {earlier} to {question!r}, {document!r}"
            raise MalformedRow(file, number, COLUMNS[2], problem)
        yield Judgement(question, document, grade)
    if not found:
        names = ", ".join(path.name for path in parts.paths["qrels"])
        raise SourceError(f"source {parts.name}: there is no judgement in {names}")


def _documents(parts: Parts) -> Iterator[PoolDocument]:
    known: set[str] = set()
    for file, number, row in parts.rows("corpus"):
        checked = check_row(_CORPUS, row, file, number)
        identifier = _new_id(checked["_id"], known, file, number)
        text = f"{checked.get('title') or ''} {checked['text']}".strip()
        if not text:
            parts.notes["documents without a text"] += 1
        yield PoolDocument(identifier, text)


def _questions(parts: Parts, known: set[str]) -> Iterator[PoolQuestion]:
    for file, number, row in parts.rows("queries"):
        checked = check_row(_QUERY, row, file, number)
        identifier = _new_id(checked["_id"], known, file, number)
        if not checked["text"].strip():
            raise MalformedRow(file, number, "text", "is empty")
        yield PoolQuestion(identifier, checked["text"])


def _new_id(value: str | int, known: set[str], file: str, number: int) -> str:
    identifier = str(value)
    if not identifier.strip():
        raise MalformedRow(file, number, "_id", "is empty")
    if identifier in known:
        raise MalformedRow(file, number, "_id", f"{identifier!r} stands in an earlier row too")
    known.add(identifier)
    return identifier


def _judgements(parts: Parts) -> Iterator[tuple[str, int, str, str, int]]:
    """(file, row, question, document, grade) of every judgement."""
    for path in parts.paths["qrels"]:
        rows = _table(path) if re.search(r"\.(tsv|txt|qrels?|trec)(\.gz)?$", path.name) else None
        for file, number, row in rows or parts.rows("qrels"):
            parts.count(path, number)
            cells = [_cell(row, name, file, number) for name in COLUMNS]
            yield file, number, cells[0], cells[1], _grade(cells[2], file, number)
        if not rows:
            return


def _table(path: Path) -> Iterator[Numbered]:
    with opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise MalformedRow(path.name, number, "(row)", f"not UTF-8 ({error})") from None
            # A hub's file has tabs, TREC's spaces as well.
            cells = text.split("\t") if "\t" in text else text.split()
            if not cells or (number == 1 and cells[-1] in HEADERS):
                continue
            if len(cells) == 4:
                del cells[1]
            if len(cells) != 3:
                problem = f"{len(cells)} columns; expected {', '.join(COLUMNS)} or TREC's four"
                raise MalformedRow(path.name, number, "(row)", problem)
            yield path.name, number, dict(zip(COLUMNS, cells, strict=True))


def _cell(row: dict[str, Any], name: str, file: str, number: int) -> str:
    value = row.get(name)
    if value is None or not str(value).strip():
        raise MalformedRow(file, number, name, "is missing")
    return str(value)


def _grade(text: str, file: str, number: int) -> int:
    # A grade that went through a table of floats is 1.0.
    if not re.fullmatch(r"[+-]?\d{1,9}(\.0*)?", text):
        raise MalformedRow(file, number, COLUMNS[2], f"{text!r} is no whole number")
    return int(float(text))
