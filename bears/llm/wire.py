"""The provider's wire formats for chat and for ``/embeddings``: requests, and answers read back."""

import binascii
import json
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bears.llm.models import MESSAGE_TOKENS, Model, ceiling

MOST_TOKENS = 10_000_000
"""More than any model reads or writes for one request. Larger counts are ignored."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One request to a model.

    Args:
        key: the caller's key.
        system, user: the two messages; an empty ``system`` is left out.
        schema: the JSON schema of the answer; None: plain text.
        max_output_tokens: the most tokens that the answer may have, including hidden ones.
        parameters: temperature, seed and so on; those that the model refuses are left out.
    """

    key: str
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    max_output_tokens: int = 4096
    parameters: Mapping[str, Any] = field(default_factory=dict)
    path: ClassVar[str] = "/chat/completions"
    holds: ClassVar[str] = "choices"
    """A key that every answer has."""

    def most_input_tokens(self) -> int:
        """Return an upper bound for any tokenizer, in which the schema counts twice."""
        schema = json.dumps(self.schema) if self.schema else ""
        return ceiling(self.system) + ceiling(self.user) + 2 * ceiling(schema) + MESSAGE_TOKENS

    def expected_tokens(self) -> int:
        """Estimate what counts against tokens per minute: the text and the longest answer."""
        return len((self.system + self.user).encode()) // 4 + self.max_output_tokens

    def body(self, name: str, model: Model, plain: bool = False) -> dict[str, Any]:
        """Return the JSON body, without what the model would refuse.

        Args:
            name: of the model.
            model: what it accepts.
            plain: whether the server accepts no schema; the system message then contains it.
        """
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
        """Read a chat completion. Raises ValueError if it is not one."""
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
            reason = type(error).__name__
            raise ValueError(f"the answer is not a chat completion ({reason})") from None


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """A model's answer, not checked yet.

    Args:
        text: the message; may be empty.
        finish_reason: ``stop``, or why it is not complete: ``length``, ``content_filter`` …
        refusal: the model's refusal in its own words.
        input_tokens, output_tokens: as charged; an upper bound if the server does not report them.
        model: the server's name for the model.
    """

    text: str
    finish_reason: str
    refusal: str | None
    input_tokens: int
    output_tokens: int
    model: str

    @property
    def refused(self) -> str:
        """Return that the model refused, and its words; empty if it did not."""
        if self.refusal or self.finish_reason == "content_filter":
            return f"the model refused: {self.refusal or 'by its content filter'}"
        return ""

    @property
    def flaw(self) -> str:
        """Return why the text is not the whole answer; empty if it is."""
        if self.refused:
            return self.refused
        if self.finish_reason != "stop":
            return f"the answer is not complete (finish reason {self.finish_reason})"
        return "" if self.text.strip() else "the answer is empty"


def used(body: Mapping[str, Any], name: str, most: int) -> int:
    """Return how many tokens the server charges for a request that it answered.

    Args:
        body: the answer.
        name: the field of the count in ``usage``.
        most: the upper bound, which counts if the server reports no usable number.
    """
    usage = body.get("usage")
    count = usage.get(name) if isinstance(usage, dict) else None
    # A boolean is an int as well.
    return count if type(count) is int and 0 <= count <= max(most, MOST_TOKENS) else most


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("the message of the answer is not text")
    return value


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """Texts that are sent together.

    Args:
        texts: none of them empty, which providers refuse.
        dimensions: of each vector.
    """

    texts: tuple[str, ...]
    dimensions: int
    max_output_tokens: ClassVar[int] = 0
    schema: ClassVar[None] = None
    path: ClassVar[str] = "/embeddings"
    holds: ClassVar[str] = "data"

    def most_input_tokens(self) -> int:
        """Return an upper bound for any byte-level tokenizer."""
        return sum(ceiling(text) for text in self.texts)

    def expected_tokens(self) -> int:
        """Estimate what the provider counts against tokens per minute."""
        return sum(token_range(text)[1] for text in self.texts)

    def body(self, name: str, model: Model, plain: bool) -> dict[str, Any]:  # noqa: ARG002
        """Return the JSON body, without ``dimensions`` if the model does not accept it."""
        body = {"model": name, "input": self.texts, "encoding_format": "base64"}
        return body | ({} if "dimensions" in model.refuses else {"dimensions": self.dimensions})

    def read(self, body: Any) -> "Embedded":
        """Read an answer; its vectors may come in any order, as base64 or numbers.

        Raises:
            ValueError: a vector is missing, of another length, not finite or zero.
        """
        try:
            rows = {int(row["index"]): _vector(row["embedding"]) for row in body["data"]}
            tokens = used(body, "prompt_tokens", self.most_input_tokens())
        except (LookupError, ArithmeticError, TypeError, AttributeError, binascii.Error) as error:
            raise ValueError(f"the answer has no embeddings ({type(error).__name__})") from None
        sent, came = len(self.texts), len(body["data"])
        if sent != came or rows.keys() != set(range(sent)):
            raise ValueError(f"{sent} texts were sent, {came} vectors for {len(rows)} of them came")
        if len({len(vector) for vector in rows.values()}) != 1:
            raise ValueError("its vectors have different lengths")
        vectors = np.stack([rows[number] for number in range(len(rows))])
        if not np.isfinite(vectors).all():
            raise ValueError("a vector holds NaN or infinity")
        if not vectors.any(axis=1).all():
            raise ValueError("a vector is all zeros")
        return Embedded(vectors, tokens)


@dataclass(frozen=True, slots=True)
class Embedded:
    """The vectors of a request.

    Args:
        vectors: shape (texts, dimensions), in the order of the texts, as the model returned them.
        input_tokens: as charged; an upper bound if the server does not report them.
    """

    vectors: NDArray[np.float32]
    input_tokens: int
    output_tokens: ClassVar[int] = 0


def _vector(value: Any) -> NDArray[np.float32]:
    if isinstance(value, str):
        return np.frombuffer(b64decode(value, validate=True), "<f4").astype(np.float32)
    # A number beyond float32 becomes infinite and is refused as such.
    with np.errstate(over="ignore"):
        vector = np.array(value, np.float32, ndmin=1)
    if vector.ndim != 1:
        raise ValueError("a vector is a list of lists")
    return vector


def token_range(text: str) -> tuple[int, int]:
    """Estimate the fewest and the most tokens of a text by cl100k_base, OpenAI's for embeddings.

    Measured: English has 4.3 to 4.7 bytes per token, Korean and Slovenian 2.6, Traditional Chinese
    2.0; no text of our benchmarks had more than 0.89 of the upper bound.
    """
    ascii_bytes = len(text.encode("ascii", "ignore"))
    other_bytes = len(text.encode("utf-8")) - ascii_bytes
    return ascii_bytes // 6 + other_bytes // 4, (ascii_bytes + 1) // 2 + -(-other_bytes * 2 // 3)
