"""Requests that other programs make, as the OpenAI protocol has them, and the form of the answers.

What cannot be bounded or replayed is refused: streams, pictures and sounds, numbered tokens.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bears.errors import FormatError, MemoryCorrupt
from bears.files.intake.json_text import json_value
from bears.llm.client.errors import RequestRefused
from bears.llm.client.forward import Forwarded

IDLE = (
    *("user", "metadata", "store", "stream", "stream_options", "service_tier"),
    *("prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
)
"""Parts of a request that change no answer."""
LIMITS = ("max_completion_tokens", "max_tokens")


def chat_body(asked: Any, output_tokens: int) -> dict[str, Any]:
    """What is sent for a chat request: all that can change its answer, and a limit of its length.

    Args:
        asked: its JSON.
        output_tokens: the limit where it names none.

    Raises:
        RequestRefused: it is no request whose cost is bounded.
    """
    _check(isinstance(asked, dict) and isinstance(asked.get("model"), str), "it names no model")
    _check(not asked.get("stream"), "streams are not replayed; ask without stream")
    messages = asked.get("messages")
    _check(isinstance(messages, list) and bool(messages), "it has no messages")
    _check(all(isinstance(each, dict) and _is_text(each) for each in messages), "it has no text")
    body = {name: value for name, value in asked.items() if name not in IDLE}
    if all(body.get(name) is None for name in LIMITS):
        body["max_tokens"] = output_tokens
    numbers = [body[name] for name in (*LIMITS, "n") if body.get(name) is not None]
    whole = all(isinstance(each, int) and 0 < each <= 1_000_000 for each in numbers)
    _check(whole, "max_tokens and n must be whole numbers above 0")
    return body


def _is_text(message: Mapping[str, Any]) -> bool:
    content = message.get("content")
    if isinstance(content, list):
        return all(isinstance(part, dict) and part.get("type") == "text" for part in content)
    return content is None or isinstance(content, str)


def chat_request(body: Mapping[str, Any]) -> Forwarded:
    """A body of `chat_body`, with the most tokens that may come."""
    limit = max(body.get(name) or 0 for name in LIMITS)
    return Forwarded(body, limit * (body.get("n") or 1))


def wanted_texts(asked: Any) -> list[str]:
    """The texts of a request for embeddings. Raises RequestRefused where it has none."""
    _check(isinstance(asked, dict) and isinstance(asked.get("model"), str), "it names no model")
    texts = [asked["input"]] if isinstance(asked.get("input"), str) else asked.get("input")
    _check(
        isinstance(texts, list) and bool(texts) and all(isinstance(text, str) for text in texts),
        "input must be a text or a list of texts",
    )
    form = asked.get("encoding_format", "float")
    _check(form in ("float", "base64"), f"encoding_format is {form!r:.40}")
    return list(texts)


def vectors_told(asked: Mapping[str, Any], vectors: Sequence[str]) -> dict[str, Any]:
    """The answer with ``vectors``, each in base64 as little-endian float32."""
    as_packed = asked.get("encoding_format") == "base64"
    rows = [
        {
            "object": "embedding",
            "index": place,
            "embedding": vector if as_packed else _values(vector),
        }
        for place, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": rows, "model": asked["model"], "usage": usage}


def packed(vector: NDArray[np.float32]) -> str:
    """A vector in base64, as little-endian float32."""
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _values(vector: str) -> list[float]:
    try:
        values: list[float] = np.frombuffer(b64decode(vector, validate=True), "<f4").tolist()
    except ValueError:
        raise MemoryCorrupt(f"an entry of the memory is no vector: {vector!r:.60}") from None
    return values


def completion_of(entry: str) -> dict[str, Any]:
    """What is kept of a chat completion. Raises MemoryCorrupt where an entry is none."""
    try:
        value = json_value(entry.encode(), "an entry of the memory")
    except FormatError as error:
        raise MemoryCorrupt(str(error)) from None
    if not isinstance(value, dict) or "choices" not in value:
        raise MemoryCorrupt(f"an entry of the memory is no chat completion: {entry!r:.60}")
    return value


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise RequestRefused(f"this request cannot be served: {problem}")
