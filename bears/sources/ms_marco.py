"""MS MARCO question answering (Bajaj et al. 2016, arXiv:1611.09268), v1.1 and v2.1.

Hub: ``passages: {is_selected: [], passage_text: [], url: []}``. Official: v1.1 is JSON Lines and
v2.1 an object of columns, both with ``passages: [{is_selected, passage_text, url}]``.
A selected passage is gold; passages have no titles, so a passage's key is its position.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.errors import MalformedRow
from bears.sources.rows import NumberedRows, Row, check_row
from bears.types import Passage, PassageRow

NO_ANSWER = "No Answer Present."


class _Common(TypedDict):
    query: str
    query_id: int
    answers: list[str]
    query_type: NotRequired[str | None]


class _HubPassages(TypedDict):
    is_selected: list[int]
    passage_text: list[str]


class _HubRow(_Common):
    passages: _HubPassages


class _Passage(TypedDict):
    is_selected: int
    passage_text: str


class _OfficialRow(_Common):
    passages: list[_Passage]


_HUB, _OFFICIAL = TypeAdapter(_HubRow), TypeAdapter(_OfficialRow)


def read(rows: NumberedRows, file: str) -> Iterator[PassageRow]:
    """Yield one question with its passages a row; an unanswered one has no gold passage.

    Raises:
        MalformedRow: naming the field that does not fit.
    """
    for number, row in rows:
        pairs = _pairs(row, file, number)
        answer = next((text for text in row["answers"] if text and text != NO_ANSWER), "")
        yield PassageRow(
            id=str(row["query_id"]),
            question=row["query"],
            answer=answer,
            question_type="single-hop",
            kind=row.get("query_type") or "",
            passages=tuple(
                Passage(str(position), text, bool(answer) and selected == 1)
                for position, (text, selected) in enumerate(pairs)
            ),
        )


def _pairs(row: Row, file: str, number: int) -> list[tuple[str, int]]:
    if isinstance(row.get("passages"), list):
        official: _OfficialRow = check_row(_OFFICIAL, row, file, number)
        return [(p["passage_text"], p["is_selected"]) for p in official["passages"]]
    hub: _HubRow = check_row(_HUB, row, file, number)
    texts, selected = hub["passages"]["passage_text"], hub["passages"]["is_selected"]
    if len(texts) != len(selected):
        problem = f"{len(texts)} texts for {len(selected)} selections"
        raise MalformedRow(file, number, "passages", problem)
    return list(zip(texts, selected, strict=True))
