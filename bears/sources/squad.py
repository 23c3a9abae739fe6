"""Reading comprehension in the shape of SQuAD: paragraphs of articles, and questions about them.

SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), DRCD (Shao et al. 2018), CMRC 2018 (Cui et al.
2019), XQuAD (Artetxe et al. 2020), KorQuAD and others. A row is an article, ``{title, id,
paragraphs: [{id, context, qas: [{id, question, answers: [{text}]}]}]}``, which the hub's DRCD wraps
as ``{"data": article}``; or, on the hub, a question, ``{id, title, context, question, answers:
{text: []}}``, with the rows of a paragraph and of an article side by side.

An article without an id is called by its title, one without a title by its first paragraph or
question, and a paragraph without an id ``{article}-{n}``, n from 0 within the article; a name that
an earlier article has gets ``#2``. Questions without an answer are left out, their paragraphs stay.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.parts import Parts
from bears.sources.rows import Row, Rows, check_row
from bears.types import Article, SourceParagraph, SourceQuestion


class _Answer(TypedDict):
    text: str


class _Qa(TypedDict):
    id: str
    question: str
    answers: Rows[_Answer]


class _Paragraph(TypedDict):
    id: NotRequired[str]
    context: str
    qas: list[_Qa]


class _Article(TypedDict):
    id: NotRequired[str]
    title: NotRequired[str]
    paragraphs: list[_Paragraph]


class _HubRow(_Qa):
    title: NotRequired[str]
    context: str


_HUB, _ARTICLE = TypeAdapter(_HubRow), TypeAdapter(_Article)


def read(parts: Parts) -> Iterator[Article]:
    """Yield one article after another. Raises MalformedRow."""
    rows = (_checked(row, file, number) for file, number, row in parts.rows())
    names: Counter[str] = Counter()
    for _, group in groupby(rows, key=_of_article):
        yield _article(_nested(list(group)), names)


def _checked(row: Row, file: str, number: int) -> Any:
    if "paragraphs" in row or "data" in row:
        return check_row(_ARTICLE, row.get("data", row), file, number)
    return check_row(_HUB, row, file, number)


def _of_article(row: Any) -> Any:
    """What the hub's rows of one article share; every other row is an article by itself."""
    return object() if "paragraphs" in row else row.get("title") or row["context"]


def _nested(rows: list[Any]) -> _Article:
    if "paragraphs" in rows[0]:
        article: _Article = rows[0]
        return article
    groups = groupby(rows, key=lambda row: row["context"])
    return {
        "title": rows[0].get("title", ""),
        "paragraphs": [{"context": context, "qas": list(qas)} for context, qas in groups],
    }


def _article(row: _Article, names: Counter[str]) -> Article:
    name = row.get("id") or row.get("title") or _first_id(row["paragraphs"])
    names[name] += 1
    if names[name] > 1:
        name = f"{name}#{names[name]}"
    paragraphs = (_paragraph(p, f"{name}-{n}") for n, p in enumerate(row["paragraphs"]))
    return Article(name, row.get("title") or name, tuple(paragraphs))


def _first_id(paragraphs: list[_Paragraph]) -> str:
    ids = (each for p in paragraphs for each in (p.get("id"), *(qa["id"] for qa in p["qas"])))
    return next((each for each in ids if each), "untitled")


def _paragraph(row: _Paragraph, name: str) -> SourceParagraph:
    questions = (
        SourceQuestion(qa["id"], qa["question"].strip(), tuple(a["text"] for a in qa["answers"]))
        for qa in row["qas"]
        if qa["answers"]
    )
    return SourceParagraph(row.get("id") or name, row["context"], tuple(questions))
