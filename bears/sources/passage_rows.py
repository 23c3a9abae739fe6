"""Questions that bring their own passages: the shapes ``multi-hop`` and ``qa-with-passages``.

``multi-hop`` is HotpotQA (Yang et al. 2018), 2WikiMultiHopQA (Ho et al. 2020) and MuSiQue (Trivedi
et al. 2022). For the first two the hub has ``context: {title: [], sentences: [[]]}`` and
``supporting_facts: {title: [], sent_id: []}``, and the official files have ``context: [[title,
[sentence]]]`` and ``supporting_facts: [[title, sent_id]]``. A paragraph's text is its sentences
joined by one space, and it is gold when its title is among those of the facts. MuSiQue has
``paragraphs: [{title, paragraph_text, is_supporting}]``, and pairs of rows with one id, of which
only the ``answerable`` one has an answer.

``qa-with-passages`` is MS MARCO (Bajaj et al. 2016, arXiv:1611.09268), v1.1 and v2.1, and what
looks like it. Hub: ``passages: {is_selected: [], passage_text: []}``. Official: v1.1 is JSON Lines
and v2.1 an object of columns, both with ``passages: [{is_selected, passage_text}]``.

In both, a question that has no answer has no gold passage either.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from bears.files.intake.yaml_text import table_of
from bears.sources.parts import Parts, RowRecords, passage_row
from bears.sources.rows import Id, Ids, Row, Rows, Text, Texts, Words, as_rows, check_row, not_blank
from bears.types import Paragraph

NO_ANSWER = "No Answer Present."
_TABLE = table_of(__file__)
MULTI_HOP: Words = _TABLE["multi_hop"]
WITH_PASSAGES: Words = _TABLE["with_passages"]


class _Passage(TypedDict):
    title: NotRequired[str | None]
    text: str
    is_gold: int


def _tuples(*names: str) -> BeforeValidator:
    """Return a validator from the hub's object of lists to the tuples of the official files."""

    def tuples(value: Any) -> Any:
        rows = as_rows(value)
        if not isinstance(rows, list):
            return rows
        # The number of the supporting sentence may be missing, since it makes no difference.
        return [
            tuple(row.get(name, 0) for name in names) if isinstance(row, Mapping) else row
            for row in rows
        ]

    return BeforeValidator(tuples)


class _Question(TypedDict):
    question: str
    id: Id


class _Answered(_Question):
    answer: Text
    aliases: NotRequired[Texts]
    answerable: NotRequired[bool | None]


class _Facts(_Answered):
    context: Annotated[list[tuple[str, list[str]]], _tuples("title", "sentences")]
    supporting_facts: Annotated[list[tuple[str, int]], _tuples("title", "sent_id")]


class _Paragraphs(_Answered):
    paragraphs: Rows[_Passage]


class _Passages(_Question):
    answers: NotRequired[Texts]
    passages: Rows[_Passage]


def multi_hop(parts: Parts) -> Iterator[RowRecords]:
    """Yield the paragraphs and the question of one row after another.

    Raises:
        MalformedRow: a field is missing or has another type, or an answered question is empty or
            has the id of an earlier one.
    """
    known = Ids()

    def made(given: Row) -> RowRecords:
        row = check_row(_Paragraphs if "paragraphs" in given else _Facts, given)
        answerable = row.get("answerable") is not False
        if "context" in row:
            gold = {title for title, _ in row["supporting_facts"]}
            if gold - {title for title, _ in row["context"]} and row["context"]:
                parts.report.notes["questions with a supporting fact that is in no paragraph"] += 1
            passages = [
                Paragraph(title, " ".join(sentences), title in gold)
                for title, sentences in row["context"]
            ]
        else:
            passages = _passages(row["paragraphs"], answerable)
        answers = (row["answer"], *(row.get("aliases") or ()))
        # Ids of documents contain the row's, and both rows of a pair bring documents.
        name = row["id"] if answerable else f"{row['id']}_unanswerable"
        _check_asked(known, row, passages)
        return passage_row(parts.dataset, name, row["question"], answers, "multi-hop", passages)

    return parts.each(made, words=MULTI_HOP)


def with_passages(parts: Parts) -> Iterator[RowRecords]:
    """Yield the passages and the question of each row. Raises MalformedRow, see `multi_hop`."""
    known = Ids()

    def made(given: Row) -> RowRecords:
        row = check_row(_Passages, given)
        answers = tuple(text for text in row.get("answers", ()) if text and text != NO_ANSWER)
        passages = _passages(row["passages"], bool(answers) or "answers" not in row)
        _check_asked(known, row, passages)
        name, question, references = row["id"], row["question"], answers or ("",)
        return passage_row(parts.dataset, name, question, references, "single-hop", passages)

    return parts.each(made, words=WITH_PASSAGES)


def _check_asked(known: Ids, row: Any, passages: list[Paragraph]) -> None:
    """Raise BadField if a question that is answered is empty, or has the id of an earlier one."""
    if any(passage.is_gold for passage in passages):
        not_blank(row["question"], "question")
        known.new(row["id"], "id")


def _passages(given: list[_Passage], answered: bool) -> list[Paragraph]:
    """Return the passages of a row. One without a title is called by its position."""
    return [
        Paragraph(row.get("title") or str(n), row["text"], answered and row["is_gold"] > 0)
        for n, row in enumerate(given)
    ]
