"""HotpotQA (Yang et al. 2018) and 2WikiMultiHopQA (Ho et al. 2020): rows with ten paragraphs.

Hub: ``context: {title: [], sentences: [[]]}``, ``supporting_facts: {title: [], sent_id: []}``.
Official files: ``context: [[title, [sentence]]]``, ``supporting_facts: [[title, sent_id]]``.
A paragraph's text is its sentences joined by one space; it is gold when its title is among the
titles of the supporting facts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow
from bears.sources.rows import NumberedRows, Row, check_row
from bears.types import Passage, PassageRow


class _Common(TypedDict):
    question: str
    answer: str
    type: NotRequired[str | None]


class _HubContext(TypedDict):
    title: list[str]
    sentences: list[list[str]]


class _HubFacts(TypedDict):
    title: list[str]


class _HubRow(_Common):
    id: str
    context: _HubContext
    supporting_facts: _HubFacts


class _OfficialRow(_Common):
    _id: str
    context: list[tuple[str, list[str]]]
    supporting_facts: list[tuple[str, int]]


_HUB, _OFFICIAL = TypeAdapter(_HubRow), TypeAdapter(_OfficialRow)


def read(rows: NumberedRows, file: str) -> Iterator[PassageRow]:
    """Yield one question with its paragraphs a row. Raises MalformedRow."""
    for number, row in rows:
        identifier, paragraphs, gold = _parts(row, file, number)
        yield PassageRow(
            id=identifier,
            question=row["question"],
            answer=row["answer"],
            question_type="multi-hop",
            kind=row.get("type") or "",
            passages=tuple(
                Passage(title, " ".join(sentences), title in gold)
                for title, sentences in paragraphs
            ),
        )


def _parts(row: Row, file: str, number: int) -> tuple[str, list[tuple[str, list[str]]], set[str]]:
    if isinstance(row.get("context"), list):
        official: Any = check_row(_OFFICIAL, row, file, number)
        return row["_id"], official["context"], {title for title, _ in row["supporting_facts"]}
    hub: _HubRow = check_row(_HUB, row, file, number)
    titles, sentences = hub["context"]["title"], hub["context"]["sentences"]
    if len(titles) != len(sentences):
        problem = f"{len(titles)} titles for {len(sentences)} lists of sentences"
        raise MalformedRow(file, number, "context", problem)
    pairs = list(zip(titles, sentences, strict=True))
    return hub["id"], pairs, set(hub["supporting_facts"]["title"])
