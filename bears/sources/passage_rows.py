"""Questions that bring their own passages: the shapes ``multi-hop`` and ``qa-with-passages``.

``multi-hop`` is HotpotQA (Yang et al. 2018), 2WikiMultiHopQA (Ho et al. 2020) and MuSiQue (Trivedi
et al. 2022). Of the first two the hub has ``context: {title: [], sentences: [[]]}`` and
``supporting_facts: {title: [], sent_id: []}``, and the official files ``context: [[title,
[sentence]]]`` and ``supporting_facts: [[title, sent_id]]``: a paragraph's text is its sentences
joined by one space, and it is gold when its title is among those of the facts. MuSiQue has
``paragraphs: [{title, paragraph_text, is_supporting}]``, and its pairs of one id of which only the
``answerable`` one has an answer.

``qa-with-passages`` is MS MARCO (Bajaj et al. 2016, arXiv:1611.09268), v1.1 and v2.1, and what
looks like it. Hub: ``passages: {is_selected: [], passage_text: []}``. Official: v1.1 is JSON Lines
and v2.1 an object of columns, both with ``passages: [{is_selected, passage_text}]``.

In both a question that has no answer has no gold passage either.
"""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import BeforeValidator, TypeAdapter
from typing_extensions import TypedDict

from bears.sources.naming import Id, Naming, Words
from bears.sources.parts import Parts
from bears.sources.records import PassageRow
from bears.sources.rows import Ids, Row, Rows, Text, Texts, as_rows, not_blank
from bears.types import Passage

NO_ANSWER = "No Answer Present."
MULTI_HOP: Words = {
    "id": ("_id", "qid", "question_id"),
    "question": ("query", "question_text"),
    "answer": (),
    "aliases": ("answer_aliases",),
    "answerable": (),
    "type": (),
    "context": (),
    "supporting_facts": (),
    "paragraphs": ("passages", "ctxs"),
    "title": (),
    "text": ("paragraph_text", "passage_text"),
    "is_gold": ("is_supporting", "is_selected"),
}
WITH_PASSAGES: Words = {
    "id": ("query_id", "_id", "qid", "question_id"),
    "question": ("query", "question_text"),
    "answers": ("answer",),
    "type": ("query_type",),
    "passages": ("paragraphs", "ctxs", "contexts", "documents"),
    "title": (),
    "text": ("passage_text", "paragraph_text", "contents", "content", "passage"),
    "is_gold": ("is_selected", "is_supporting", "is_relevant", "relevant", "label"),
}


class _Passage(TypedDict):
    title: NotRequired[str | None]
    text: str
    is_gold: int


def _tuples(*names: str) -> BeforeValidator:
    """From the hub's object of lists to the tuples of the official files."""

    def tuples(value: Any) -> Any:
        rows = as_rows(value)
        if not isinstance(rows, list):
            return rows
        # Which sentence supports is no matter, and need not be said.
        return [
            tuple(row.get(name, 0) for name in names) if isinstance(row, Mapping) else row
            for row in rows
        ]

    return BeforeValidator(tuples)


class _Asked(TypedDict):
    question: str
    answer: Text
    id: Id
    aliases: NotRequired[Texts]
    answerable: NotRequired[bool | None]
    type: NotRequired[str | None]


class _Facts(_Asked):
    context: Annotated[list[tuple[str, list[str]]], _tuples("title", "sentences")]
    supporting_facts: Annotated[list[tuple[str, int]], _tuples("title", "sent_id")]


class _Paragraphs(_Asked):
    paragraphs: Rows[_Passage]


class _Answered(TypedDict):
    id: Id
    question: str
    answers: NotRequired[Texts]
    type: NotRequired[str | None]
    passages: Rows[_Passage]


_FACTS, _PARAGRAPHS = TypeAdapter(_Facts), TypeAdapter(_Paragraphs)
_ANSWERED = TypeAdapter(_Answered)


def multi_hop(parts: Parts) -> Iterator[PassageRow]:
    """Yield one question with its paragraphs a row.

    Raises:
        MalformedRow: a field is missing or of another type, or an answered question is empty or
            has the id of an earlier one.
    """
    naming, known = Naming(MULTI_HOP, parts), Ids()

    def made(file: str, number: int, given: Row) -> PassageRow:
        row = naming.check(_shape, given, file, number)
        if "context" in row:
            gold = {title for title, _ in row["supporting_facts"]}
            if gold - {title for title, _ in row["context"]} and row["context"]:
                parts.notes["questions with a supporting fact that is in no paragraph"] += 1
            passages = tuple(
                Passage(title, " ".join(sentences), title in gold)
                for title, sentences in row["context"]
            )
        else:
            passages = _passages(row["paragraphs"], row.get("answerable") is not False)
        if any(passage.is_gold for passage in passages):
            not_blank(row["question"], file, number, naming.called(given, "question"))
            known.new(row["id"], file, number, naming.called(given, "id"))
        aliases = tuple(row.get("aliases") or ())
        kind = row.get("type") or ""
        # Ids of documents are made of the row's, and both of a pair bring some.
        name = row["id"] + "_unanswerable" * (row.get("answerable") is False)
        answer = row["answer"]
        return PassageRow(name, row["question"], answer, "multi-hop", kind, passages, aliases)

    return parts.each(made)


def _shape(row: Any) -> TypeAdapter[Any]:
    return _PARAGRAPHS if isinstance(row, dict) and "paragraphs" in row else _FACTS


def with_passages(parts: Parts) -> Iterator[PassageRow]:
    """Yield one question with its passages a row. Raises MalformedRow, as `multi_hop`."""
    naming, known = Naming(WITH_PASSAGES, parts), Ids()

    def made(file: str, number: int, given: Row) -> PassageRow:
        row = naming.check(lambda _: _ANSWERED, given, file, number)
        answers = [text for text in row.get("answers", ()) if text and text != NO_ANSWER]
        passages = _passages(row["passages"], bool(answers) or "answers" not in row)
        if any(passage.is_gold for passage in passages):
            not_blank(row["question"], file, number, naming.called(given, "question"))
            known.new(row["id"], file, number, naming.called(given, "id"))
        answer, *aliases = answers or [""]
        kind = row.get("type") or ""
        return PassageRow(
            row["id"], row["question"], answer, "single-hop", kind, passages, tuple(aliases)
        )

    return parts.each(made)


def _passages(given: list[_Passage], answered: bool) -> tuple[Passage, ...]:
    """Those of a row; one without a title is called by its position."""
    return tuple(
        Passage(row.get("title") or str(n), row["text"], answered and row["is_gold"] > 0)
        for n, row in enumerate(given)
    )
