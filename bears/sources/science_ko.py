"""The Korean science question answering task: conversations over 4,272 short documents.

Parts: ``documents`` with rows ``{docid, src, content}``, and ``questions`` with rows
``{eval_id or val_id, msg: [{role, content}], doc_id}``, both as JSON Lines. ``doc_id``, which some
files call ``ground_truth_doc_id``, is one id, a list of ids, or nothing (null, "", []) where the
right answer needs no document. The task's own 220 conversations lack it: setting ``judged: false``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NotRequired

from pydantic import AliasChoices, Field, StrictInt, StrictStr, TypeAdapter
from typing_extensions import TypedDict

from bears.config import parse
from bears.errors import MalformedRow
from bears.files.intake.texts import blank
from bears.sources.parts import Parts
from bears.sources.records import PoolDocument, PoolQuestion
from bears.sources.rows import Ids, Row, check_row
from bears.types import Closed, Turn


@dataclass(frozen=True)
class ScienceKoSettings(Closed):
    """What the configuration says of the questions.

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
    msg: list[_Message]
    id: NotRequired[_Id]
    gold: NotRequired[_Gold]


_DOCUMENT, _CONVERSATION = TypeAdapter(_Document), TypeAdapter(_Conversation)


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield the documents, then the conversations: the last message is what is asked.

    Raises:
        MalformedRow: a field is missing or of another type, an id is empty or stands twice, a
            conversation does not end with a message of the user, or that message is empty.
    """
    settings = parse(ScienceKoSettings, dict(parts.settings), f"sources.{parts.name}.settings")
    known, asked = Ids(), Ids()

    def document(file: str, number: int, row: Row) -> PoolDocument:
        checked = check_row(_DOCUMENT, row, file, number)
        identifier = known.new(checked["docid"], file, number, "docid")
        return PoolDocument(identifier, checked["content"])

    def question(file: str, number: int, row: Row) -> PoolQuestion:
        conversation = check_row(_CONVERSATION, row, file, number)
        made = _question(conversation, settings, file, number)
        asked.new(made.id, file, number, "eval_id")
        return made

    yield from parts.each(document, "documents")
    yield from parts.each(question, "questions")


def _question(
    row: _Conversation, settings: ScienceKoSettings, file: str, number: int
) -> PoolQuestion:
    if "id" not in row:
        raise MalformedRow(file, number, "eval_id", "neither it nor val_id is there")
    if settings.judged and "gold" not in row:
        problem = "is missing; null says that no document is needed, and of questions without any "
        raise MalformedRow(file, number, "doc_id", problem + "gold settings.judged=false")
    *turns, last = row["msg"] or [{"role": "system", "content": ""}]
    if last["role"] != "user" or blank(last["content"]):
        raise MalformedRow(file, number, "msg", "does not end with a message of the user")
    return PoolQuestion(
        id=str(row["id"]),
        question=last["content"],
        gold=tuple((doc_id, 1) for doc_id in _gold(row["gold"])) if settings.judged else (),
        judged=settings.judged,
        turns=tuple(Turn(turn["role"], turn["content"]) for turn in turns),
    )


def _gold(value: Any) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(doc_id for doc_id in given if doc_id))
