"""The provider's wire format: a request as JSON, an answer read back, and an error understood."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from bears.llm.faults import SCHEMA, ClientError
from bears.llm.models import MESSAGE_TOKENS, Model, ceiling

MOST_TOKENS = 10_000_000
"""More than any model reads or writes for one request. A larger count is not believed."""


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

    def body(self, name: str, model: Model, learned: Collection[str] = ()) -> dict[str, Any]:
        """Return the JSON that asks the model ``name``, without what it would refuse.

        Args:
            model: what it accepts.
            learned: of `LESSONS`; where the server takes no schema, it is told in words.
        """
        plain = SCHEMA in learned
        body: dict[str, Any] = {"model": name, "messages": self._messages(plain)}
        body |= {key: value for key, value in self.parameters.items() if key not in model.refuses}
        body[model.limit] = self.max_output_tokens
        if self.schema is not None and not plain:
            schema = {"name": "answer", "strict": True, "schema": self.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return body

    def _messages(self, plain: bool) -> list[dict[str, str]]:
        system = self.system
        if self.schema is not None and plain:
            schema = json.dumps(self.schema, ensure_ascii=False, sort_keys=True)
            system += f"\n\nAnswer with one JSON object and nothing else. Its schema: {schema}"
        messages = [{"role": "user", "content": self.user}]
        return [{"role": "system", "content": system}, *messages] if system else messages

    def read(self, body: Any) -> "ChatAnswer":
        """Read a chat completion. Raises ValueError where it is none."""
        try:
            choice = body["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content") or "", message.get("refusal")
            return ChatAnswer(
                text=_text(text),
                finish_reason=str(choice.get("finish_reason") or ""),
                refusal=None if refusal is None else _text(refusal),
                input_tokens=used(body, "prompt_tokens", self.most_input_tokens()),
                output_tokens=used(body, "completion_tokens", self.max_output_tokens),
                model=str(body.get("model", "")),
            )
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            name = type(error).__name__
            raise ValueError(f"the answer is no chat completion ({name})") from None


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
