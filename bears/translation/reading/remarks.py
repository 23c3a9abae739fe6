"""What a reader says of a translation, and which of it can be true."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.files.records import problems_of
from bears.llm.shape import json_reply
from bears.llm.use import CheckedReply
from bears.llm.wire import ChatAnswer

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "remarks": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"type": "string", "enum": ["lost", "changed", "added"]},
                    "source": {"type": "string"},
                    "translation": {"type": "string"},
                },
                "required": ["kind", "source", "translation"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["remarks"],
    "additionalProperties": False,
}
MOST, LONGEST = 20, 300
"""Remarks that are kept of one text, and characters of a quotation."""


class Remark(TypedDict):
    """One place where a translation says something else: words of the source and of it."""

    kind: Literal["lost", "changed", "added"]
    source: str
    translation: str


class Remarks(TypedDict):
    """What a model answers, and what the memory keeps as one line of JSON."""

    remarks: list[Remark]


_REMARKS = TypeAdapter(Remarks)


def parse_remarks(value: Any) -> list[Remark]:
    """Read an answer. Raises FormatError, saying what does not fit."""
    try:
        return _REMARKS.validate_python(value, strict=True)["remarks"]
    except ValidationError as error:
        raise FormatError(problems_of(error)) from None


def check(answer: ChatAnswer) -> CheckedReply:
    """What is kept of a model's answer: its remarks, shortened; whether they hold is for later."""
    try:
        remarks = parse_remarks(json_reply(answer))
    except FormatError as error:
        return CheckedReply("", [str(error)], [])
    kept = [
        {name: " ".join(str(value).split())[:LONGEST] for name, value in remark.items()}
        for remark in remarks[:MOST]
    ]
    return CheckedReply(json.dumps({"remarks": kept}, ensure_ascii=False, sort_keys=True), [], [])


def kept_remarks(answer: str) -> list[Remark]:
    """The remarks of an entry of the memory. Raises FormatError where it holds none."""
    return parse_remarks(json_value(answer.encode(), ""))


def tenable(remarks: Sequence[Remark], source: str, translation: str) -> list[Remark]:
    """The remarks whose quotations stand where they are said to, each once.

    What is lost does not stand in the translation as it was, what was added not in the source, as
    the original of a name in parentheses does.
    """
    source, translation = _plain(source), _plain(translation)
    found = []
    for remark in remarks:
        before, after = _plain(remark["source"]), _plain(remark["translation"])
        stands_before, stands_after = before in source, after in translation
        holds = {
            "lost": before and stands_before and before not in translation,
            "added": after and stands_after and after.strip("()（） ") not in source,
            "changed": before and after and stands_before and stands_after and before != after,
        }
        if holds[remark["kind"]] and remark not in found:
            found.append(remark)
    return found


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()
