"""What is wrong with a rewritten question."""

import json
from typing import Any

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.intake.texts import blank
from bears.files.records import problems_of
from bears.llm.client.wire import ChatAnswer
from bears.llm.replies.json_reply import json_reply
from bears.llm.replies.use import CheckedReply

LONGEST = 300
"""Characters of a query, beyond those of the conversation, that a search was made of."""


class Rewrite(TypedDict):
    """What a model answers, and what the memory keeps as one line of JSON."""

    search: bool
    standalone_query: str


_REWRITE = TypeAdapter(Rewrite)


def parse_rewrite(text: str) -> Rewrite:
    """Read an answer. Raises FormatError, saying what does not fit."""
    return _rewrite(json_value(text.encode(), ""))


def _rewrite(value: Any) -> Rewrite:
    try:
        return _REWRITE.validate_python(value, strict=True)
    except ValidationError as error:
        raise FormatError(problems_of(error)) from None


def kept(search: bool, query: str) -> str:
    """What the memory keeps."""
    rewrite: Rewrite = {"search": search, "standalone_query": query}
    return json.dumps(rewrite, ensure_ascii=False, sort_keys=True)


def check(answer: ChatAnswer, question: str, said: str) -> CheckedReply:
    """The verdict on one answer.

    Args:
        question: the last message.
        said: the messages before it; empty where there are none, and the question stays as it is.
    """
    try:
        rewrite = _rewrite(json_reply(answer))
    except FormatError as error:
        return CheckedReply("", [str(error)], [])
    return _judged(rewrite["search"], " ".join(rewrite["standalone_query"].split()), question, said)


def _judged(search: bool, query: str, question: str, said: str) -> CheckedReply:
    doubts = []
    if not search:
        if blank(query):
            return CheckedReply(kept(False, ""), [], [])
        # What small models say of real questions: searching in vain costs less than not searching.
        doubts.append("search is false, but there is a standalone_query")
    if not said:
        return CheckedReply(kept(True, question), [], doubts)
    if blank(query):
        return CheckedReply("", ["standalone_query is empty, though search is true"], [])
    if len(query) > len(said) + len(question) + LONGEST:
        return CheckedReply("", [f"standalone_query has {len(query)} characters"], [])
    if not _pairs(query) & _pairs(f"{said}\n{question}"):
        doubts.append("standalone_query has no word of the conversation")
    return CheckedReply(kept(True, query), [], doubts)


def _pairs(text: str) -> set[str]:
    """Neighbouring letters, which words of any script share."""
    folded = "".join(text.casefold().split())
    return {folded[n : n + 2] for n in range(len(folded) - 1)}
