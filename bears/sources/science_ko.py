"""The Korean science question answering task: conversations over 4,272 short documents.

Parts: ``documents`` with rows ``{docid, src, content}``, and ``questions`` with rows
``{eval_id or val_id, msg: [{role, content}], doc_id}``, both as JSON Lines. ``doc_id``, which some
files call ``ground_truth_doc_id``, is one id, a list of ids, or nothing (null, "", []) where the
right answer needs no document. The task's own 220 conversations lack it: setting ``judged: false``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, NotRequired

from pydantic import AliasChoices, Field, StrictInt, StrictStr
from typing_extensions import TypedDict

from bears.files.visible import blank
from bears.sources.parts import Parts, RowRecords, pool_document, pool_question
from bears.sources.rows import BadField, Ids, Row, check_row
from bears.types import ForbidsExtra, Turn


@dataclass(frozen=True)
class ScienceKoSettings(ForbidsExtra):
    """The settings of the questions.

    Args:
        judged: whether they come with their gold.
    """

    judged: bool = True


class _Document(TypedDict):
    docid: str
    content: str


class _Message(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str


_Id = Annotated[StrictInt | StrictStr, Field(validation_alias=AliasChoices("eval_id", "val_id"))]
_Gold = Annotated[
    str | list[str] | None, Field(validation_alias=AliasChoices("doc_id", "ground_truth_doc_id"))
]


class _Conversation(TypedDict):
    id: _Id
    msg: list[_Message]
    gold: NotRequired[_Gold]


def read_science_ko(parts: Parts) -> Iterator[RowRecords]:
    """Yield the documents, then the conversations, whose last message is the question.

    Raises:
        MalformedRow: a field is missing or has another type, an id is empty or used twice, or a
            conversation does not end with a message of the user that has a text.
    """
    settings = parts.settings(ScienceKoSettings)
    documents, questions = Ids(), Ids()

    def document(given: Row) -> RowRecords:
        row = check_row(_Document, given)
        doc_id = documents.new(row["docid"], "docid")
        return [pool_document(parts.dataset, doc_id, row["content"])]

    def question(given: Row) -> RowRecords:
        row = check_row(_Conversation, given)
        if settings.judged and "gold" not in row:
            raise BadField(
                "doc_id",
                "is missing; null means that no document is needed. For questions without any "
                "gold set settings.judged=false",
            )
        *turns, last = row["msg"] or [{"role": "system", "content": ""}]
        if last["role"] != "user" or blank(last["content"]):
            raise BadField("msg", "does not end with a message of the user")
        gold = row["gold"] if settings.judged else []
        made = pool_question(
            parts.dataset,
            questions.new(str(row["id"]), "eval_id"),
            last["content"],
            gold={doc_id: 1 for doc_id in (gold if isinstance(gold, list) else [gold]) if doc_id},
            judged=settings.judged,
            turns=tuple(Turn(turn["role"], turn["content"]) for turn in turns),
        )
        return [made]

    yield from parts.each(document, "documents")
    yield from parts.each(question, "questions")
