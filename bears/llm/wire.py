"""The provider's wire format: a request as JSON, an answer read back, and an error understood."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bears.errors import FormatError
from bears.files.intake.json_text import json_value
from bears.llm.faults import ClientError
from bears.llm.models import MESSAGE_TOKENS, Model, ceiling

MOST_TOKENS = 10_000_000
"""More than any model reads or writes for one request. A larger count is not believed."""
STOPPING = (401, 403, 404)
PASSING = (408, 409, 429)
NO_QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "billing_not_active")


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One question to a model.

    Args:
        key: what the caller knows it by.
        system, user: the two messages; an empty ``system`` is left out.
        schema: the JSON schema of the answer; None: plain text.
        max_output_tokens: the most tokens that the answer may have, hidden ones included.
        parameters: temperature, seed and the like; those that the model refuses are left out.
    """

    key: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_output_tokens: int = 4096
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def most_input_tokens(self) -> int:
        """More tokens than it can have by any tokenizer, the schema (told twice) included."""
        schema = json.dumps(self.schema) if self.schema else ""
        return ceiling(self.system) + ceiling(self.user) + 2 * ceiling(schema) + MESSAGE_TOKENS

    def expected_tokens(self) -> int:
        """What the provider counts against tokens a minute: the text and the longest answer."""
        return len((self.system + self.user).encode()) // 4 + self.max_output_tokens


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """What a model answered. Whether it is good is for the caller to say.

    Args:
        text: the message, empty where there is none.
        finish_reason: ``stop``, or why it is not whole: ``length``, ``content_filter`` …
        refusal: the model's refusal in its own words.
        input_tokens, output_tokens: as charged; where the server does not say, at most.
        model: the one that answered, as the server names it.
    """

    text: str
    finish_reason: str
    refusal: str | None
    input_tokens: int
    output_tokens: int
    model: str


Outcome = ChatAnswer | ClientError
"""What becomes of a request."""
Keep = Callable[[ChatRequest, ChatAnswer], Awaitable[None]]
"""Told each answer as soon as it is there; returns once a kill cannot lose it any more."""


async def forget(request: ChatRequest, answer: ChatAnswer) -> None:
    """A `Keep` for those who read the answers at once."""


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that a server tells.

    Args:
        status: of the HTTP answer.
        code: the provider's word for it.
        message: the provider's sentence.
    """

    status: int
    code: str
    message: str

    @property
    def stops(self) -> bool:
        """Whether no other request can fare better."""
        return self.status in STOPPING or (self.status == 429 and self.code in NO_QUOTA)

    @property
    def passes(self) -> bool:
        """Whether the same request may be answered later."""
        return not self.stops and (self.status in PASSING or self.status >= 500)

    @property
    def about_schema(self) -> bool:
        """Whether the server does not know how to answer in a schema."""
        words = ("response_format", "json_schema")
        return self.status == 400 and any(word in self.message for word in words)

    def __str__(self) -> str:
        code = f" {self.code}" if self.code else ""
        return f"status {self.status}{code}: {self.message}"


def to_body(request: ChatRequest, name: str, model: Model, schemas: bool = True) -> dict[str, Any]:
    """The JSON that asks ``request`` of the model ``name``, without what it would refuse.

    Args:
        schemas: whether the server takes a schema; else it is told in words.
    """
    body: dict[str, Any] = {"model": name, "messages": _messages(request, schemas)}
    body |= {key: value for key, value in request.parameters.items() if key not in model.refuses}
    body[model.limit] = request.max_output_tokens
    if request.schema is not None and schemas:
        schema = {"name": "answer", "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def _messages(request: ChatRequest, schemas: bool) -> list[dict[str, str]]:
    system = request.system
    if request.schema is not None and not schemas:
        schema = json.dumps(request.schema, ensure_ascii=False, sort_keys=True)
        system = f"{system}\n\nAnswer with one JSON object and nothing else. Its schema: {schema}"
    messages = [{"role": "user", "content": request.user}]
    return [{"role": "system", "content": system}, *messages] if system else messages


def read_answer(body: Any, request: ChatRequest) -> ChatAnswer:
    """Read a chat completion.

    Raises:
        ValueError: it is none.
    """
    try:
        choice = body["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal")
        return ChatAnswer(
            text=_text(text),
            finish_reason=str(choice.get("finish_reason") or ""),
            refusal=None if refusal is None else _text(refusal),
            input_tokens=used(body, "prompt_tokens", request.most_input_tokens()),
            output_tokens=used(body, "completion_tokens", request.max_output_tokens),
            model=str(body.get("model", "")),
        )
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ValueError(f"the answer is no chat completion ({type(error).__name__})") from None


def used(body: Mapping[str, Any], name: str, most: int) -> int:
    """Return how many tokens the server charges for a request that it answered.

    Args:
        body: the answer.
        name: of the count in its ``usage``.
        most: what the request can have used, which counts if the server gives no usable number.
    """
    usage = body.get("usage")
    told = usage.get(name) if isinstance(usage, dict) else None
    # A boolean is an int as well.
    return told if type(told) is int and 0 <= told <= max(most, MOST_TOKENS) else most


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("the answer's message is no text")
    return value


def read_problem(status: int, content: bytes) -> Problem:
    """Read an error answer, whatever form it has."""
    try:
        body = json_value(content, "")
    except FormatError:
        return Problem(status, "", content.decode("utf-8", "replace").strip())
    return to_problem(status, body)


def to_problem(status: int, body: Any) -> Problem:
    """Read the JSON of an error."""
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return Problem(status, "", str(error))
    code = error.get("code") or error.get("type") or ""
    return Problem(status, str(code), str(error.get("message", "")))
