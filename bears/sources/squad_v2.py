"""SQuAD 2.0 (Rajpurkar et al. 2018, arXiv:1806.03822), answerable questions and all paragraphs.

Hub: one question a row, ``{id, title, context, question, answers: {text: [], answer_start: []}}``,
rows of a paragraph and of an article side by side. Official file:
``{"version", "data": [article]}``.
SQuAD names no paragraphs: ``{title}-{n}``, n from 0 within the article, is the same in both shapes.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.rows import NumberedRows, check_row
from bears.types import Article, SourceParagraph, SourceQuestion


class _HubAnswers(TypedDict):
    text: list[str]


class _HubRow(TypedDict):
    id: str
    title: str
    context: str
    question: str
    answers: _HubAnswers


class _Answer(TypedDict):
    text: str


class _Qa(TypedDict):
    id: str
    question: str
    answers: list[_Answer]


class _Paragraph(TypedDict):
    context: str
    qas: list[_Qa]


class _Article(TypedDict):
    title: str
    paragraphs: list[_Paragraph]


_HUB, _OFFICIAL = TypeAdapter(_HubRow), TypeAdapter(_Article)


def read(rows: NumberedRows, file: str) -> Iterator[Article]:
    """Yield one article after another. Raises MalformedRow."""
    checked = (
        check_row(_OFFICIAL if "paragraphs" in row else _HUB, row, file, number)
        for number, row in rows
    )
    for title, group in groupby(checked, key=lambda row: str(row["title"])):
        paragraphs = [pair for row in group for pair in _paragraphs(row)]
        yield Article(title, title, tuple(_numbered(title, paragraphs)))


def _paragraphs(row: Any) -> Iterator[tuple[str, SourceQuestion | None]]:
    if "paragraphs" not in row:
        yield row["context"], _question(row["id"], row["question"], row["answers"]["text"])
        return
    for paragraph in row["paragraphs"]:
        yield paragraph["context"], None
        for qa in paragraph["qas"]:
            texts = [answer["text"] for answer in qa["answers"]]
            yield paragraph["context"], _question(qa["id"], qa["question"], texts)


def _question(identifier: str, question: str, answers: list[str]) -> SourceQuestion:
    return SourceQuestion(identifier, question.strip(), tuple(answers))


def _numbered(
    title: str, pairs: list[tuple[str, SourceQuestion | None]]
) -> Iterator[SourceParagraph]:
    for n, (text, group) in enumerate(groupby(pairs, key=lambda pair: pair[0])):
        questions = tuple(q for _, q in group if q is not None and q.answers)
        yield SourceParagraph(f"{title}-{n}", text, questions)
