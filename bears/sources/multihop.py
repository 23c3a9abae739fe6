"""HotpotQA (Yang et al. 2018) and 2WikiMultiHopQA (Ho et al. 2020): rows with ten paragraphs.

Hub: ``context: {title: [], sentences: [[]]}``, ``supporting_facts: {title: [], sent_id: []}``.
Official files: ``context: [[title, [sentence]]]``, ``supporting_facts: [[title, sent_id]]``.
A paragraph's text is its sentences joined by one space; it is gold when its title is among the
titles of the supporting facts.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import AliasChoices, BeforeValidator, Field, TypeAdapter
from typing_extensions import TypedDict

from bears.sources.parts import Parts
from bears.sources.rows import as_rows, check_row
from bears.types import Passage, PassageRow


def _tuples(*names: str) -> BeforeValidator:
    """From the hub's object of lists to the tuples of the official files."""

    def tuples(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        # Which sentence supports is no matter, and need not be said.
        return [tuple(row.get(name, 0) for name in names) for row in as_rows(value)]

    return BeforeValidator(tuples)


class _Row(TypedDict):
    question: str
    answer: str
    id: Annotated[str, Field(validation_alias=AliasChoices("_id", "id"))]
    type: NotRequired[str | None]
    context: Annotated[list[tuple[str, list[str]]], _tuples("title", "sentences")]
    supporting_facts: Annotated[list[tuple[str, int]], _tuples("title", "sent_id")]


_SHAPE = TypeAdapter(_Row)


def read(parts: Parts) -> Iterator[PassageRow]:
    """Yield one question with its paragraphs a row. Raises MalformedRow."""
    for file, number, given in parts.rows():
        row: _Row = check_row(_SHAPE, given, file, number)
        gold = {title for title, _ in row["supporting_facts"]}
        yield PassageRow(
            id=row["id"],
            question=row["question"],
            answer=row["answer"],
            question_type="multi-hop",
            kind=row.get("type") or "",
            passages=tuple(
                Passage(title, " ".join(sentences), title in gold)
                for title, sentences in row["context"]
            ),
        )
