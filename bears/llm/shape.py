"""The form of a JSON reply: its schema for the model, its check, and the line to keep.

A use declares the form once, as a TypedDict. The order of its fields is the order in which the
model writes them.
"""

import json
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from bears.errors import FormatError, RepliesCorrupt
from bears.files.intake.files import json_value
from bears.files.records import problems_of
from bears.llm.wire import ChatAnswer

T = TypeVar("T")


def json_reply(answer: ChatAnswer) -> Any:
    """Return the JSON value between the first brace and the last; ignore text around it.

    Raises:
        FormatError: the model refused, was cut off, or answered something else.
    """
    if answer.flaw:
        raise FormatError(f"{answer.flaw:.100}")
    start, end = answer.text.find("{"), answer.text.rfind("}") + 1
    try:
        return json_value(answer.text[max(start, 0) : end].encode(), "")
    except (FormatError, UnicodeEncodeError):
        # JSON cannot hold half of a surrogate pair, which models do send.
        raise FormatError("the answer is not the JSON that was asked for") from None


class Shape(Generic[T]):
    """The form of a JSON reply.

    Args:
        form: a TypedDict of strings, booleans, literals, and lists of TypedDicts.
    """

    def __init__(self, form: type[T]) -> None:
        self._adapter: TypeAdapter[T] = TypeAdapter(form)
        described = self._adapter.json_schema()
        self.schema: Mapping[str, Any] = _strict(described, described.get("$defs", {}))

    def parse(self, value: Any) -> T:
        """Check a value. Raises FormatError, naming what does not fit."""
        try:
            return self._adapter.validate_python(value, strict=True)
        except ValidationError as error:
            raise FormatError(problems_of(error)) from None

    def read(self, answer: ChatAnswer) -> T:
        """Read a model's answer. Raises FormatError, naming what does not fit."""
        return self.parse(json_reply(answer))

    def line(self, value: T) -> str:
        """Return the line to keep."""
        return json.dumps(value, ensure_ascii=False, sort_keys=True)

    def kept(self, line: str, what: str) -> T:
        """Read a kept line.

        Args:
            line: the kept reply.
            what: its name, for the message.

        Raises:
            RepliesCorrupt: the line does not have this form.
        """
        try:
            return self.parse(json_value(line.encode(), ""))
        except FormatError as error:
            raise RepliesCorrupt(f"{what} is not valid: {error}") from None


def _strict(node: Mapping[str, Any], defined: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema as providers want it: all fields are required and no others are allowed."""
    if "$ref" in node:
        return _strict(defined[node["$ref"].rpartition("/")[2]], defined)
    found: dict[str, Any] = {"type": node["type"]}
    if "enum" in node:
        found["enum"] = node["enum"]
    if "items" in node:
        found["items"] = _strict(node["items"], defined)
    if "properties" in node:
        parts = node["properties"]
        found["properties"] = {name: _strict(part, defined) for name, part in parts.items()}
        found |= {"required": list(parts), "additionalProperties": False}
    return found
