"""DRCD, reading comprehension in Traditional Chinese (Shao et al. 2018, arXiv:1806.00920).

Hub (``voidful/DRCD``): one article a row, wrapped as ``{"data": {...}}``. Official file:
``{"version", "data": [article]}``. A bare article is read as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.rows import NumberedRows, check_row
from bears.types import Article, SourceParagraph, SourceQuestion


class _Answer(TypedDict):
    text: str


class _Qa(TypedDict):
    id: str
    question: str
    answers: list[_Answer]


class _Paragraph(TypedDict):
    id: str
    context: str
    qas: list[_Qa]


class _Article(TypedDict):
    id: str
    title: str
    paragraphs: list[_Paragraph]


_SHAPE = TypeAdapter(_Article)


def read(rows: NumberedRows, file: str) -> Iterator[Article]:
    """Yield one article a row. Raises MalformedRow."""
    for number, row in rows:
        article = check_row(_SHAPE, row.get("data", row), file, number)
        yield Article(
            article["id"],
            article["title"],
            tuple(_paragraph(paragraph) for paragraph in article["paragraphs"]),
        )


def _paragraph(paragraph: _Paragraph) -> SourceParagraph:
    questions = tuple(
        SourceQuestion(qa["id"], qa["question"], tuple(a["text"] for a in qa["answers"]))
        for qa in paragraph["qas"]
    )
    return SourceParagraph(paragraph["id"], paragraph["context"], questions)
