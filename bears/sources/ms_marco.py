"""MS MARCO question answering (Bajaj et al. 2016, arXiv:1611.09268), v1.1 and v2.1.

Hub: ``passages: {is_selected: [], passage_text: [], url: []}``. Official: v1.1 is JSON Lines and
v2.1 an object of columns, both with ``passages: [{is_selected, passage_text, url}]``.
A selected passage is gold; passages have no titles, so a passage's key is its position.
"""

from collections.abc import Iterator
from typing import NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from bears.sources.parts import Parts
from bears.sources.rows import Rows, check_row
from bears.types import Passage, PassageRow

NO_ANSWER = "No Answer Present."


class _Passage(TypedDict):
    is_selected: int
    passage_text: str


class _Row(TypedDict):
    query: str
    query_id: int
    answers: list[str]
    query_type: NotRequired[str | None]
    passages: Rows[_Passage]


_SHAPE = TypeAdapter(_Row)


def read(parts: Parts) -> Iterator[PassageRow]:
    """Yield one question with its passages a row; an unanswered one has no gold passage.

    Raises:
        MalformedRow: naming the field that does not fit.
    """
    for file, number, given in parts.rows():
        row: _Row = check_row(_SHAPE, given, file, number)
        answer = next((text for text in row["answers"] if text and text != NO_ANSWER), "")
        yield PassageRow(
            id=str(row["query_id"]),
            question=row["query"],
            answer=answer,
            question_type="single-hop",
            kind=row.get("query_type") or "",
            passages=tuple(
                Passage(
                    str(n), passage["passage_text"], bool(answer) and passage["is_selected"] == 1
                )
                for n, passage in enumerate(row["passages"])
            ),
        )
