"""The shape ``squad``: paragraphs of articles, and questions about them.

SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), DRCD (Shao et al. 2018), CMRC 2018 (Cui et al.
2019), XQuAD (Artetxe et al. 2020), KorQuAD, JaQuAD and others. A row is an article, ``{title, id,
paragraphs: [{id, context, qas: [{id, question, answers: [{text}]}]}]}``, which the hub's DRCD wraps
as ``{"data": article}``; an article of one paragraph, ``{title, context, qas}`` (CMRC's first
files, KorQuAD 2); or, on the hub, a question, ``{id, title, context, question, answers: {text:
[]}}``, with the rows of a paragraph and of an article side by side. Answers may be bare texts too,
or one alone.

An article without an id is called by its title, one without a title by its first paragraph or
question, and a paragraph without an id ``{article}-{n}``, n from 0 within the article; a name that
an earlier article has gets ``#2``. Questions without an answer are left out, their paragraphs stay.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.naming import Id, Naming, Words
from bears.sources.parts import Parts
from bears.sources.records import Article, ParagraphQuestion, SourceParagraph
from bears.sources.rows import Ids, Row, Texts, not_blank

WORDS: Words = {
    "id": ("_id", "query_id", "qid", "question_id", "context_id"),
    "title": (),
    "context": ("context_text", "passage", "paragraph"),
    "question": ("query_text", "query", "question_text"),
    "answers": ("answer", "answers.text"),
    "text": ("answer_text",),
    "paragraphs": (),
    "qas": (),
}


class _Qa(TypedDict):
    id: Id
    question: str
    answers: Texts


class _Paragraph(TypedDict):
    id: NotRequired[Id | None]
    context: str
    qas: list[_Qa]


class _Article(TypedDict):
    id: NotRequired[Id | None]
    title: NotRequired[str | None]
    paragraphs: list[_Paragraph]


class _Alone(_Paragraph):
    title: NotRequired[str | None]


class _HubRow(_Qa):
    title: NotRequired[str | None]
    context: str


_HUB, _ALONE, _ARTICLE = TypeAdapter(_HubRow), TypeAdapter(_Alone), TypeAdapter(_Article)


def read(parts: Parts) -> Iterator[Article]:
    """Yield one article after another.

    Raises:
        MalformedRow: a field is missing or of another type, or an answered question is empty or
            has the id of an earlier one.
    """
    naming, known = Naming(WORDS, parts), Ids()
    rows = parts.each(partial(_checked, naming, known))
    names: Counter[str] = Counter()
    for _, group in groupby(rows, key=_of_article):
        yield _article(_nested(list(group)), names)


def _checked(naming: Naming, known: Ids, file: str, number: int, given: Row) -> Any:
    row = naming.check(_shape, given.get("data", given), file, number)
    paragraphs = row.get("paragraphs", [row])
    for paragraph, asked in ((p, qa) for p in paragraphs for qa in p.get("qas", [row])):
        if asked["answers"]:
            not_blank(paragraph["context"], file, number, naming.called(given, "context"))
            not_blank(asked["question"], file, number, naming.called(given, "question"))
            known.new(asked["id"], file, number, naming.called(given, "id"))
    return {**row, "paragraphs": [row]} if "qas" in row else row


def _shape(row: Any) -> TypeAdapter[Any]:
    if not isinstance(row, dict) or "paragraphs" in row:
        return _ARTICLE
    return _ALONE if "qas" in row else _HUB


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
        ParagraphQuestion(qa["id"], qa["question"].strip(), tuple(qa["answers"]))
        for qa in row["qas"]
        if qa["answers"]
    )
    return SourceParagraph(row.get("id") or name, row["context"], tuple(questions))
