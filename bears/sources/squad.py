"""The shape ``squad``: paragraphs of articles, and questions about them.

SQuAD 1.1 and 2.0 (Rajpurkar et al. 2016, 2018), DRCD (Shao et al. 2018), CMRC 2018 (Cui et al.
2019), XQuAD (Artetxe et al. 2020), KorQuAD, JaQuAD and others. A row is an article, ``{title, id,
paragraphs: [{id, context, qas: [{id, question, answers: [{text}]}]}]}``, which the hub's DRCD wraps
as ``{"data": article}``; an article of one paragraph, ``{title, context, qas}`` (CMRC's first
files, KorQuAD 2); or, on the hub, a question, ``{id, title, context, question, answers: {text:
[]}}``, with the rows of a paragraph and of an article side by side. Answers may also be bare texts
or a single text.

An article without an id is called by its title, one without a title by its first paragraph or
question, and a paragraph without an id ``{article}-{n}``, n from 0 within the article. A name that
an earlier article has gets ``#2``. Questions without an answer are left out, but their paragraphs
are kept.
"""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from typing import Any, NotRequired

from typing_extensions import TypedDict

from bears.files.intake.yaml_text import table_of
from bears.sources.parts import Parts, RowRecords, passage_document, passage_question
from bears.sources.rows import Id, Ids, Row, Texts, Words, check_row, not_blank
from bears.types import ParagraphPlace

WORDS: Words = table_of(__file__)


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


def read_squad(parts: Parts) -> Iterator[RowRecords]:
    """Yield the paragraphs and questions of one article after another.

    Raises:
        MalformedRow: a field is missing or has another type, or an answered question is empty or
            has the id of an earlier one.
    """
    rows = parts.each(partial(_checked, Ids()), words=WORDS)
    names: Counter[str] = Counter()
    for _, group in groupby(rows, key=_of_article):
        yield _records(parts.dataset, _nested(list(group)), names)


def _checked(known: Ids, given: Row) -> Any:
    row = given.get("data", given)
    row = check_row(_shape(row), row)
    paragraphs = row.get("paragraphs", [row])
    for paragraph, qa in ((p, qa) for p in paragraphs for qa in p.get("qas", [row])):
        if qa["answers"]:
            not_blank(paragraph["context"], "context")
            not_blank(qa["question"], "question")
            known.new(qa["id"], "id")
    return {**row, "paragraphs": [row]} if "qas" in row else row


def _shape(row: Any) -> type:
    if not isinstance(row, dict) or "paragraphs" in row:
        return _Article
    return _Alone if "qas" in row else _HubRow


def _of_article(row: Any) -> Any:
    """Return what the hub's rows of one article share; any other row is an article by itself."""
    return object() if "paragraphs" in row else row.get("title") or row["context"]


def _nested(rows: list[Any]) -> Any:
    if "paragraphs" in rows[0]:
        return rows[0]
    groups = groupby(rows, key=lambda row: row["context"])
    paragraphs = [{"context": context, "qas": list(qas)} for context, qas in groups]
    return {"title": rows[0].get("title", ""), "paragraphs": paragraphs}


def _records(source: str, article: _Article, names: Counter[str]) -> RowRecords:
    name = article.get("id") or article.get("title") or _first_id(article["paragraphs"])
    names[name] += 1
    if names[name] > 1:
        name = f"{name}#{names[name]}"
    found: list[Any] = []
    for n, paragraph in enumerate(article["paragraphs"]):
        key = paragraph.get("id") or f"{name}-{n}"
        found.append(passage_document(source, key, paragraph["context"]))
        for qa in paragraph["qas"]:
            if answers := tuple(qa["answers"]):
                passages = (ParagraphPlace(qa["id"], n, bool(answers[0])),)
                question = qa["question"].strip()
                found.append(
                    passage_question(source, qa["id"], question, answers, "single-hop", passages)
                )
    return found


def _first_id(paragraphs: list[_Paragraph]) -> str:
    ids = (each for p in paragraphs for each in (p.get("id"), *(qa["id"] for qa in p["qas"])))
    return next((each for each in ids if each), "untitled")
