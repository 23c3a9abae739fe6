"""The shape ``beir``: a corpus, queries, and judgements (Thakur et al. 2021, arXiv:2104.08663).

Parts: ``corpus`` with rows ``{_id, title, text}``, ``queries`` with rows ``{_id, text}``, and
``qrels``: tab-separated ``query-id, corpus-id, score``, or in the order that a header gives, TREC's
four columns, or rows with those columns. MTEB's sets call an id ``id``. A document's text is its
title, a space and its text, as BEIR's own retrievers index it.
"""

import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import NotRequired

from typing_extensions import TypedDict

from bears.errors import SourceError
from bears.files.intake.yaml_text import table_of
from bears.files.qrels import COLUMNS, GRADE, QUERY, SCORE, qrels_rows
from bears.files.visible import blank
from bears.sources.parts import Parts, RowRecords, numbered, pool_document, pool_question
from bears.sources.rows import BadField, Id, Ids, Row, Words, check_row, not_blank
from bears.types import Document

WORDS: Words = table_of(__file__)


class _CorpusRow(TypedDict):
    _id: Id
    title: NotRequired[str | None]
    text: str


class _QueryRow(TypedDict):
    _id: Id
    text: str


def read_beir(parts: Parts) -> Iterator[RowRecords]:
    """Yield documents, then questions with what the split judges.

    Raises:
        MalformedRow: naming file, row and field: a field is missing or has another type, an id is
            empty or used twice, a question is empty, a grade is not a whole number, a judgement
            names an unknown question or contradicts an earlier one.
        SourceError: a part is empty.
    """
    known, ids = Ids(), Ids()

    def document(given: Row) -> Document:
        row = check_row(_CorpusRow, given)
        text = f"{row.get('title') or ''} {row['text']}".strip()
        if blank(text):
            parts.report.notes["documents without a text"] += 1
        return pool_document(parts.dataset, known.new(row["_id"], "_id"), text)

    def question(given: Row) -> tuple[str, str]:
        row = check_row(_QueryRow, given)
        text = not_blank(row["text"], "text")
        return ids.new(row["_id"], "_id"), text

    for each in parts.each(document, "corpus", words=WORDS):
        yield [each]
    questions = list(parts.each(question, "queries", words=WORDS))
    judgements = _judgements(parts, ids)
    for part, files in parts.tables.items():
        if not any(file in parts.counts for file in files):
            names = ", ".join(parts.called(file) for file in files)
            raise SourceError(f"source {parts.name}, part {part}: there is no row in {names}")
    for identifier, text in questions:
        graded = judgements.get(identifier, {})
        gold = {doc_id: grade for doc_id, grade in graded.items() if grade > 0}
        # Without gold it is unknown what is relevant, which does not mean that nothing is.
        made = pool_question(
            parts.dataset,
            identifier,
            text,
            gold=gold,
            judged=bool(gold),
            lacks="" if gold else "relevant" if graded else "judgement",
            not_relevant=tuple(each for each in graded.items() if each[1] <= 0),
        )
        yield [made]


def _judgements(parts: Parts, ids: Ids) -> dict[str, dict[str, int]]:
    """Return the grades of each question's documents."""
    found: dict[str, dict[str, int]] = {}

    def judgement(row: Row) -> None:
        question, document, score = (_cell(row, name) for name in COLUMNS)
        if not GRADE.fullmatch(score):
            raise BadField(SCORE, f"{score!r} is not a whole number")
        grade = int(float(score))
        if question not in ids:
            raise BadField(QUERY, f"the query {question!r} is not among the queries")
        if (earlier := found.setdefault(question, {}).setdefault(document, grade)) != grade:
            problem = f"{grade}, but an earlier row gives {earlier} to {question!r}, {document!r}"
            raise BadField(SCORE, problem)

    deque(parts.each(judgement, "qrels", _table, WORDS), 0)
    return found


def _table(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the judgements of a file with the numbers of their lines."""
    is_text = re.search(r"\.(tsv|txt|qrels?|trec)(\.gz)?$", path.name)
    return qrels_rows(path) if is_text else numbered(path)


def _cell(row: Row, name: str) -> str:
    value = row.get(name)
    if value is None or blank(str(value)):
        raise BadField(name, "is missing")
    if name != SCORE and type(value) not in (str, int):
        raise BadField(name, f"{value!r:.40} is neither text nor a whole number")
    return str(value)
