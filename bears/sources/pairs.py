"""The shape ``pairs``: a question, the passages that answer it, and passages that do not.

``{question, positive, negatives}``, where either is a text, ``{title, text}``, or a list of such:
what dense retrievers are trained on, as sentence-transformers, Tevatron and DPR write it. A set may
have a row for each positive. Rows of one question become one question, in which a positive of
another row is not a negative. So all rows are held in memory.
"""

from collections import deque
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from bears.files.intake.yaml_text import table_of
from bears.sources.parts import Parts, RowRecords, passage_row
from bears.sources.rows import BadField, Id, Row, Texts, Words, as_rows, check_row, not_blank
from bears.types import Paragraph

WORDS: Words = table_of(__file__)


class _Text(TypedDict):
    title: NotRequired[str | None]
    text: str


def _as_passages(value: Any) -> Any:
    """Return a list of objects for a text, an object, or a list of texts, objects or lists."""
    if isinstance(value, dict) and isinstance(value.get("text"), list):
        value = as_rows(value)
    listed = value if isinstance(value, list) else [value] if value else []
    listed = [text for each in listed for text in (each if isinstance(each, list) else [each])]
    return [{"text": each} if isinstance(each, str) else each for each in listed]


_Passages = Annotated[list[_Text], BeforeValidator(_as_passages)]


class _PairRow(TypedDict):
    id: NotRequired[Id | None]
    question: str
    positive: _Passages
    negatives: NotRequired[_Passages]
    answers: NotRequired[Texts]


def read_pairs(parts: Parts) -> Iterator[RowRecords]:
    """Yield each question once, in the order of their first rows, with its passages.

    A question without an id is called by the number of its row. A passage's text is its title, a
    space and its text, as BEIR's retrievers index it.

    Raises:
        MalformedRow: a field is missing or has another type, a question or passage is empty, or
            two questions have one id.
    """
    found: dict[str, tuple[str, list[str], dict[str, bool]]] = {}
    by_id: dict[str, str] = {}

    def collect(given: Row) -> None:
        number = str(sum(parts.counts.values()))
        row = check_row(_PairRow, given)
        question = not_blank(row["question"], "question")
        if not row["positive"]:
            raise BadField("positive", "is empty")
        texts = {field: [*_texts(row, field)] for field in ("negatives", "positive")}
        known = found.get(question) or (row.get("id") or number, [], {})
        identifier, answers, passages = known
        if by_id.setdefault(identifier, question) != question:
            raise BadField("id", f"{identifier!r:.80} is another question's too")
        found[question] = known
        answers += row.get("answers", ())
        for field, listed in texts.items():
            for text in listed:
                passages[text] = passages.get(text, False) or field == "positive"

    deque(parts.each(collect, words=WORDS), 0)
    for question, (identifier, answers, judged) in found.items():
        passages = [Paragraph(str(n), *each) for n, each in enumerate(judged.items())]
        distinct = tuple(dict.fromkeys(answers)) or ("",)
        yield passage_row(parts.dataset, identifier, question, distinct, "ad-hoc", passages)


def _texts(row: _PairRow, field: Literal["negatives", "positive"]) -> Iterator[str]:
    for n, passage in enumerate(row.get(field, ())):
        text = f"{passage.get('title') or ''} {passage['text']}".strip()
        yield not_blank(text, f"{field}.{n}")
