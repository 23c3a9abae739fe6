"""The Korean science question answering task: conversations over 4,272 short documents.

Parts: ``documents`` with rows ``{docid, src, content}``, and ``questions`` with rows
``{eval_id or val_id, msg: [{role, content}], doc_id}``, both as JSON Lines. ``doc_id`` is one id,
a list of ids, or nothing (null, "", []) where the right answer needs no document. The task's own
220 conversations lack it: setting ``judged: false``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NotRequired

from pydantic import ConfigDict, StrictInt, StrictStr, TypeAdapter
from typing_extensions import TypedDict

from bears.configuration import STRICT, parse
from bears.errors import MalformedRow
from bears.sources.parts import Parts
from bears.sources.rows import check_row
from bears.types import PoolDocument, PoolQuestion, Turn


@dataclass(frozen=True)
class Settings:
    """What the configuration says of the questions.

    Args:
        judged: whether they come with their gold.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    judged: bool = True


class _Document(TypedDict):
    docid: str
    content: str


class _Message(TypedDict):
    role: Literal["user", "assistant", "system"]
    content: str


class _Conversation(TypedDict):
    msg: list[_Message]
    eval_id: NotRequired[StrictInt | StrictStr]
    val_id: NotRequired[StrictInt | StrictStr]
    doc_id: NotRequired[str | list[str] | None]


_DOCUMENT, _CONVERSATION = TypeAdapter(_Document), TypeAdapter(_Conversation)


def read(parts: Parts) -> Iterator[PoolDocument | PoolQuestion]:
    """Yield the documents, then the conversations: the last message is what is asked.

    Raises:
        MalformedRow: a field is missing or of another type, an id is empty or stands twice, a
            conversation does not end with a message of the user, or that message is empty.
    """
    settings = parse(Settings, dict(parts.settings), f"sources.{parts.name}.settings")
    known: set[str] = set()
    for file, number, row in parts.rows("documents"):
        document = check_row(_DOCUMENT, row, file, number)
        _check_new(document["docid"], known, file, number, "docid")
        yield PoolDocument(document["docid"], document["content"])
    asked: set[str] = set()
    for file, number, row in parts.rows("questions"):
        conversation = check_row(_CONVERSATION, row, file, number)
        question = _question(conversation, settings, file, number)
        _check_new(question.id, asked, file, number, "eval_id")
        yield question


def _question(row: _Conversation, settings: Settings, file: str, number: int) -> PoolQuestion:
    identifier = row.get("eval_id", row.get("val_id"))
    if identifier is None:
        raise MalformedRow(file, number, "eval_id", "neither it nor val_id is there")
    if settings.judged and "doc_id" not in row:
        problem = "is missing; null says that no document is needed, and of questions without any "
        raise MalformedRow(file, number, "doc_id", problem + "gold settings.judged=false")
    *turns, last = row["msg"] or [{"role": "system", "content": ""}]
    if last["role"] != "user" or not last["content"].strip():
        raise MalformedRow(file, number, "msg", "does not end with a message of the user")
    return PoolQuestion(
        id=str(identifier),
        question=last["content"],
        gold=tuple((doc_id, 1) for doc_id in _gold(row.get("doc_id"))) if settings.judged else (),
        judged=settings.judged,
        turns=tuple(Turn(turn["role"], turn["content"]) for turn in turns),
    )


def _gold(value: Any) -> list[str]:
    given = value if isinstance(value, list) else [value]
    return list(dict.fromkeys(doc_id for doc_id in given if doc_id))


def _check_new(identifier: str, known: set[str], file: str, number: int, field: str) -> None:
    if not identifier.strip():
        raise MalformedRow(file, number, field, "is empty")
    if identifier in known:
        raise MalformedRow(file, number, field, f"{identifier!r} stands in an earlier row too")
    known.add(identifier)
