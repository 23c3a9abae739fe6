"""The shape ``beir``: a corpus, queries, and judgements (Thakur et al. 2021, arXiv:2104.08663).

Parts: ``corpus`` with rows ``{_id, title, text}``, ``queries`` with rows ``{_id, text}``, and
``qrels``: tab-separated ``query-id, corpus-id, score``, or in the order that a header gives, TREC's
four columns, or rows with those columns. MTEB's sets call an id ``id``. A document's text is its
title, a space and its text, as BEIR's own retrievers index it.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow, SourceError
from bears.files.intake.files import decoded, numbered_lines
from bears.files.intake.texts import blank
from bears.sources.naming import Id, Naming, Words
from bears.sources.parts import Parts, numbered
from bears.sources.records import PoolDocument, PoolQuestion
from bears.sources.rows import Ids, Row, not_blank

COLUMNS = ("query-id", "corpus-id", "score")
TREC = ("query-id", "iteration", "corpus-id", "score")
WORDS: Words = {
    "_id": ("id", "docid", "doc_id", "docno", "corpus_id", "qid", "query_id", "question_id"),
    "title": (),
    "text": ("contents", "content", "passage", "query", "question"),
    COLUMNS[0]: ("query_id", "query", "qid", "topic", "question_id"),
    COLUMNS[1]: ("corpus_id", "doc_id", "docid", "docno", "document"),
    COLUMNS[2]: ("relevance", "grade", "label", "rel"),
}
NAMES = {name: word for word in COLUMNS for name in (word, *WORDS[word])}
"""What a header calls the columns of the judgements."""
# A grade that went through a table of floats is 1.0.
GRADE = re.compile(r"[+-]?[0-9]{1,9}(\.0*)?")


class _CorpusRow(TypedDict):
    _id: Id
    title: NotRequired[str | None]
    text: str


class _QueryRow(TypedDict):
    _id: Id
    text: str


_CORPUS, _QUERY = TypeAdapter(_CorpusRow), TypeAdapter(_QueryRow)


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield documents, then questions with what the split says is relevant.

    Raises:
        MalformedRow: naming file, row and field: a field is missing or of another type, an id is
            empty or stands twice, a question is empty, a grade is no whole number, a judgement
            names an unknown question or contradicts an earlier one.
        SourceError: a part is empty.
    """
    yield from _documents(parts)
    known = Ids()
    questions = list(_questions(parts, known))
    judgements = _judgements(parts, known)
    for part, tables in parts.tables.items():
        if not any(table in parts.counts for table in tables):
            names = ", ".join(parts.called(table) for table in tables)
            raise SourceError(f"source {parts.name}, part {part}: there is no row in {names}")
    for question in questions:
        graded = judgements.get(question.id, {})
        gold = tuple((doc_id, grade) for doc_id, grade in graded.items() if grade > 0)
        # Nobody knows what is relevant, which does not say that nothing is.
        lacks: Literal["relevant", "judgement"] = "relevant" if graded else "judgement"
        yield replace(question, gold=gold, judged=bool(gold), lacks="" if gold else lacks)


def _documents(parts: Parts) -> Iterator[PoolDocument]:
    known = Ids()
    naming = Naming(WORDS, parts)

    def made(file: str, number: int, row: Row) -> PoolDocument:
        checked = naming.check(lambda _: _CORPUS, row, file, number)
        identifier = known.new(checked["_id"], file, number, naming.called(row, "_id"))
        text = f"{checked.get('title') or ''} {checked['text']}".strip()
        if blank(text):
            parts.notes["documents without a text"] += 1
        return PoolDocument(identifier, text)

    return parts.each(made, "corpus")


def _questions(parts: Parts, known: Ids) -> Iterator[PoolQuestion]:
    naming = Naming(WORDS, parts)

    def made(file: str, number: int, row: Row) -> PoolQuestion:
        checked = naming.check(lambda _: _QUERY, row, file, number)
        text = not_blank(checked["text"], file, number, naming.called(row, "text"))
        identifier = known.new(checked["_id"], file, number, naming.called(row, "_id"))
        return PoolQuestion(identifier, text)

    return parts.each(made, "queries")


def _judgements(parts: Parts, known: Ids) -> dict[str, dict[str, int]]:
    """Return the grades of each question's documents."""
    naming = Naming(WORDS, parts)
    found: dict[str, dict[str, int]] = {}

    def made(file: str, number: int, row: Row) -> None:
        named = naming.renamed(row)
        question, document, cell = (_cell(named, name, file, number) for name in COLUMNS)
        grade = _grade(cell, file, number)
        if question not in known:
            problem = f"the query {question!r} is not among the queries"
            raise MalformedRow(file, number, COLUMNS[0], problem)
        if (earlier := found.setdefault(question, {}).setdefault(document, grade)) != grade:
            problem = f"{grade}, but an earlier row gives {earlier} to {question!r}, {document!r}"
            raise MalformedRow(file, number, COLUMNS[2], problem)

    deque(parts.each(made, "qrels", _table), 0)
    return found


def _table(path: Path) -> Iterator[tuple[int, Row]]:
    """The judgements of a file and their lines."""
    if not re.search(r"\.(tsv|txt|qrels?|trec)(\.gz)?$", path.name):
        yield from numbered(path)
        return
    order: Sequence[str] = ()
    for number, line in numbered_lines(path):
        text = decoded(line, f"{path}, line {number}").strip()
        # A hub's file has tabs, TREC's spaces as well.
        cells = text.split("\t") if "\t" in text else text.split()
        if number == 1 and (order := _header(cells, path.name)):
            continue
        if not cells:
            continue
        named = order or (TREC if len(cells) == len(TREC) else COLUMNS)
        if len(cells) != len(named):
            problem = f"{len(cells)} columns; expected {', '.join(order or COLUMNS)}"
            raise MalformedRow(
                path.name, number, "(row)", problem + " or TREC's four" * (not order)
            )
        yield number, dict(zip(named, cells, strict=True))


def _header(cells: Sequence[str], file: str) -> list[str]:
    """The columns that a first line names, in its order; none where it is a judgement."""
    names = [NAMES.get(cell.lower(), cell) for cell in cells]
    if any(GRADE.fullmatch(cell) for cell in cells) or not set(names) & set(COLUMNS):
        return []
    if wrong := [name for name in COLUMNS if names.count(name) != 1]:
        problem = f"names {', '.join(cells)}; expected {', '.join(COLUMNS)} once each, in any order"
        raise MalformedRow(file, 1, wrong[0], problem)
    return names


def _cell(row: Row, name: str, file: str, number: int) -> str:
    value = row.get(name)
    if value is None or blank(str(value)):
        raise MalformedRow(file, number, name, "is missing")
    if name != COLUMNS[2] and type(value) not in (str, int):
        raise MalformedRow(file, number, name, f"{value!r:.40} is neither text nor whole number")
    return str(value)


def _grade(text: str, file: str, number: int) -> int:
    if not GRADE.fullmatch(text):
        raise MalformedRow(file, number, COLUMNS[2], f"{text!r} is no whole number")
    return int(float(text))
