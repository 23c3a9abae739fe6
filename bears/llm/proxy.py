"""Kept replies for other programs, with a model behind them or without one."""

import asyncio
import json
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveInt

from bears.errors import FormatError, RepliesCorrupt, RepliesMissing
from bears.files.intake.json_text import json_value
from bears.files.journal import Append
from bears.llm.budget import Budget
from bears.llm.client import Charged, Client, Connection, Embeddings
from bears.llm.embedding import Embedded, EmbeddingRequest
from bears.llm.endpoint import Endpoint
from bears.llm.faults import LIMIT, ClientError, RequestRefused, RunStopped
from bears.llm.kept import Kept, KeptReplies, KeptReply, key_of
from bears.llm.models import MESSAGE_TOKENS, Model, Price, ceiling, models_of
from bears.llm.wire import not_a_completion, used
from bears.types import Closed

IDLE = (
    *("user", "metadata", "store", "stream", "stream_options", "service_tier"),
    *("prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
)
"""Parts of a request that do not change its answer."""
LIMITS = ("max_completion_tokens", "max_tokens")
CONTENT = ("content", "refusal", "tool_calls", "function_call", "audio")
"""Parts of a message that have content."""


def chat_body(asked: Any, output_tokens: int) -> dict[str, Any]:
    """Return the body of a chat request: all that can change its answer, and a length limit.

    Args:
        asked: the JSON of the request.
        output_tokens: the limit if the request has none.

    Raises:
        RequestRefused: it is not a chat request of texts with a limited cost.
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


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A chat request that another program made.

    Args:
        asked: a body of `chat_body`.
    """

    asked: Mapping[str, Any]

    @property
    def max_output_tokens(self) -> int:
        """Return the most tokens of all its answers together."""
        most: int = max(self.asked.get(name) or 0 for name in LIMITS)
        return most * (self.asked.get("n") or 1)

    @property
    def words(self) -> str:
        """Return all of it as text."""
        return json.dumps(self.asked, ensure_ascii=False)

    def most_input_tokens(self) -> int:
        """Return an upper bound for any tokenizer, in which schemas and tools count twice."""
        return 2 * ceiling(self.words) + MESSAGE_TOKENS * len(self.asked["messages"])

    def expected_tokens(self) -> int:
        """Estimate what the provider counts against tokens per minute."""
        return len(self.words.encode()) // 4 + self.max_output_tokens

    def body(self, name: str, model: Model, learned: Collection[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the request, with the name of the limit that the model accepts."""
        if LIMIT not in learned or "max_tokens" not in self.asked:
            return self.asked
        others = {name: self.asked[name] for name in self.asked if name != "max_tokens"}
        return {"max_completion_tokens": self.asked["max_tokens"], **others}

    def read(self, body: Any) -> "Completion":
        """Read a chat completion without the parts that always differ: its id and its date.

        Raises:
            ValueError: it is not a completion, has half of a character, or has no content though
                nothing stopped it. The next answer may be better.
        """
        try:
            silent = [choice for choice in body["choices"] if _is_silent(choice)]
            content = {name: body[name] for name in ("choices", "model", "usage") if name in body}
            sent = used(body, "prompt_tokens", self.most_input_tokens())
            came = used(body, "completion_tokens", self.max_output_tokens)
        except (KeyError, TypeError, AttributeError) as error:
            raise not_a_completion(error) from None
        if silent or not content["choices"]:
            raise ValueError("the answer has no words")
        json.dumps(content, ensure_ascii=False).encode()
        return Completion(content, sent, came)


def _is_silent(choice: Any) -> bool:
    has_content = any(choice["message"].get(part) for part in CONTENT)
    return not has_content and choice.get("finish_reason") in ("stop", None)


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer in its provider's form.

    Args:
        content: the choices, the model's name and the usage.
        input_tokens, output_tokens: as charged; an upper bound if the server does not report them.
    """

    content: Mapping[str, Any]
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ForwardedTexts(EmbeddingRequest):
    """Texts of a request that another program made.

    Args:
        part: the part of it that can change the vectors: its model, and dimensions if set.
    """

    dimensions: int = 0
    part: Mapping[str, Any] = field(default_factory=dict)

    def body(self, name: str, model: Model, learned: Collection[str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the JSON body."""
        return {**self.part, "input": self.texts, "encoding_format": "base64"}


def wanted_texts(asked: Any) -> list[str]:
    """Return the texts of an embedding request. Raises RequestRefused if it has none."""
    _check(isinstance(asked, dict) and isinstance(asked.get("model"), str), "it names no model")
    texts = [asked["input"]] if isinstance(asked.get("input"), str) else asked.get("input")
    _check(
        isinstance(texts, list) and bool(texts) and all(isinstance(text, str) for text in texts),
        "input must be a text or a list of texts",
    )
    form = asked.get("encoding_format", "float")
    _check(form in ("float", "base64"), f"encoding_format is {form!r:.40}")
    return list(texts)


def embeddings_answer(asked: Mapping[str, Any], vectors: Iterable[str]) -> dict[str, Any]:
    """Return the answer to an embedding request.

    Args:
        asked: the JSON of the request.
        vectors: each in base64 as little-endian float32.
    """
    values = vectors if asked.get("encoding_format") == "base64" else map(_values, vectors)
    rows = [
        {"object": "embedding", "index": place, "embedding": value}
        for place, value in enumerate(values)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": rows, "model": asked["model"], "usage": usage}


def packed(vector: NDArray[np.float32]) -> str:
    """Encode a vector in base64, as little-endian float32."""
    return b64encode(vector.astype("<f4").tobytes()).decode()


def _values(vector: str) -> list[float]:
    try:
        values: list[float] = np.frombuffer(b64decode(vector, validate=True), "<f4").tolist()
    except ValueError:
        raise RepliesCorrupt(f"a kept reply is not a vector: {vector!r:.60}") from None
    return values


def completion_of(entry: str) -> dict[str, Any]:
    """Return a kept chat completion. Raises RepliesCorrupt if it is not one."""
    try:
        value = json_value(entry.encode(), "a kept reply")
    except FormatError as error:
        raise RepliesCorrupt(str(error)) from None
    if not isinstance(value, dict) or "choices" not in value:
        raise RepliesCorrupt(f"a kept reply is not a chat completion: {entry!r:.60}")
    return value


def _check(holds: bool, problem: str) -> None:
    if not holds:
        raise RequestRefused(f"this request cannot be served: {problem}")


NAME = "proxied"
"""The name of this use: the ``kind`` of its journal rows, and their field."""

SHOWN = 1000
"""How many characters of a request are kept for people to read, from its end."""


@dataclass(frozen=True)
class Upstream:
    """The models that answer what is missing.

    Args:
        chat, embeddings: the models.
        append: journals one row.
    """

    chat: Connection[Forwarded, Completion]
    embeddings: Connection[EmbeddingRequest, Embedded]
    append: Append


Wanted = Mapping[str, Forwarded | EmbeddingRequest]
"""Requests by their keys."""
Ask = Callable[[Upstream, list[str]], Awaitable[list[KeptReply]]]
"""Send the requests of these keys and return the kept replies."""


class Proxy:
    """The requests that `bears.llm.server` serves.

    Args:
        known: the replies so far; grows.
        upstream: None: missing replies stay missing.
        output_tokens: the length limit of a chat request that has none.
    """

    def __init__(
        self, known: KeptReplies, upstream: Upstream | None = None, output_tokens: int = 4096
    ) -> None:
        self.used: dict[str, KeptReply] = {}
        """The replies that were served, by key."""
        self.missed: dict[str, Forwarded | EmbeddingRequest] = {}
        """The requests without a reply, by key."""
        self.asked = 0
        """How many requests a model was sent."""
        self.problem = ""
        """Why the first of them that failed has no answer."""
        self._known, self._upstream, self._output_tokens = known, upstream, output_tokens
        self._locks = defaultdict[str, asyncio.Lock](asyncio.Lock)
        self._stopped: RunStopped | OSError | None = None

    @property
    def spent(self) -> float:
        """Return the US dollars so far."""
        up = self._upstream
        lines = (up.chat, up.embeddings) if up else ()
        return sum((line.client.budget.spent for line in lines), 0.0)

    async def chat(self, asked: Any, sample: int = 0) -> dict[str, Any]:
        """Answer a chat request.

        Args:
            asked: the JSON of the request.
            sample: the number of the answer, from 0, if one request has several.

        Raises:
            RequestRefused: it is not a chat request of texts.
            RepliesMissing: it has no kept reply, and there is no model to ask.
            ClientError: there is no answer.
            OSError: the answer cannot be kept; no more requests are sent.
        """
        body = chat_body(asked, self._output_tokens)
        request = Forwarded(body)
        key = key_of({"use": NAME, "chat": body, "sample": sample})

        async def ask(upstream: Upstream, _: list[str]) -> list[KeptReply]:
            came = await upstream.chat(request)
            content = json.dumps(came.content, ensure_ascii=False, sort_keys=True)
            text = str(body["messages"][-1].get("content"))[-SHOWN:]
            entry = KeptReply(key, "", "chat", text, content)
            return await _journal(upstream, [entry], body["model"], came)

        await self._find({key: request}, ask)
        head = {"id": f"chatcmpl-{key[:24]}", "object": "chat.completion", "created": 0}
        return {**head, **completion_of(self.used[key].answer)}

    async def embed(self, asked: Any) -> dict[str, Any]:
        """Answer an embedding request; the vector of each text is kept separately.

        Raises:
            RequestRefused, RepliesMissing, ClientError, OSError: as `chat`.
        """
        texts = wanted_texts(asked)
        part = {name: asked[name] for name in ("model", "dimensions") if name in asked}
        keys = {text: key_of({"use": NAME, "embedding": part, "text": text}) for text in texts}
        by_key = {key: text for text, key in keys.items()}

        async def ask(upstream: Upstream, fresh: list[str]) -> list[KeptReply]:
            request = ForwardedTexts(tuple(by_key[key] for key in fresh), part=part)
            came = await upstream.embeddings(request)
            entries = [
                KeptReply(key, "", "embedding", by_key[key][-SHOWN:], packed(vector))
                for key, vector in zip(fresh, came.vectors, strict=True)
            ]
            return await _journal(upstream, entries, part["model"], came)

        await self._find({key: ForwardedTexts((text,)) for key, text in by_key.items()}, ask)
        return embeddings_answer(asked, (self.used[keys[text]].answer for text in texts))

    async def _find(self, wanted: Wanted, ask: Ask) -> None:
        """Put the reply of each key into ``used``; wait for those that others are asking for."""
        async with AsyncExitStack() as stack:
            # In one order, so that no two requests wait for each other.
            for key in sorted(wanted):
                await stack.enter_async_context(self._locks[key])
            entries = {key: self._known.get(key, "") for key in wanted}
            self.used |= {key: entry for key, entry in entries.items() if entry}
            fresh = [key for key, entry in entries.items() if not entry]
            if fresh and self._stopped:
                raise self._stopped
            if fresh and self._upstream is None:
                self.missed |= {key: wanted[key] for key in fresh}
                raise RepliesMissing(f"{len(fresh)} replies to this request are not kept")
            if fresh and self._upstream:
                self.asked += 1
                try:
                    found = await ask(self._upstream, fresh)
                except (ClientError, OSError) as error:
                    self.problem = self.problem or str(error)
                    if isinstance(error, RunStopped | OSError):
                        self._stopped = error
                    raise
                self._known.add(*found)
                self.used |= {entry.key: entry for entry in found}


async def _journal(
    upstream: Upstream, entries: list[KeptReply], model: str, charged: Charged
) -> list[KeptReply]:
    """Write the replies to one request into the journal; return them once they are on disk."""
    tokens = {"input_tokens": charged.input_tokens, "output_tokens": charged.output_tokens}
    rows = (
        {**entry.row(NAME), "kind": NAME, "reasons": [], "model": model}
        | (tokens if place == 0 else {})
        for place, entry in enumerate(entries)
    )
    await asyncio.gather(*map(asyncio.wrap_future, map(upstream.append, rows)))
    return entries


@dataclass(frozen=True)
class ChatSettings(Endpoint):
    """The chat model; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.chat"

    output_tokens: PositiveInt = 4096


@dataclass(frozen=True)
class EmbeddingSettings(Endpoint):
    """The model of embeddings; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.embeddings"


@dataclass(frozen=True)
class ProxySettings(Closed):
    """One conf/proxy/<name>.yaml."""

    name: str
    chat: ChatSettings
    embeddings: EmbeddingSettings

    @property
    def models(self) -> tuple[str, str]:
        """Return the names of the chat model and of the model of embeddings."""
        return self.chat.model, self.embeddings.model


@asynccontextmanager
async def proxied(settings: ProxySettings, kept: Kept, ask: bool) -> AsyncIterator[Proxy]:
    """Open the kept replies, with the models behind them while the block runs.

    Args:
        settings: the models, and how to ask them.
        kept: the kept replies of `bears.llm.proxy.NAME`.
        ask: whether to ask for missing replies; otherwise no API key is needed.

    Raises:
        ConfigurationError: there is no price or no API key.
    """
    chat, vectors = settings.chat, settings.embeddings
    if not ask:
        yield Proxy(kept.known(), None, chat.output_tokens)
        return
    models = models_of(kept.root)
    budgets = [Budget(each.budget, each.price_in(models), each.where) for each in (chat, vectors)]
    talk = Client[Forwarded, Completion](chat, models, budgets[0], kept.root)
    embed = Embeddings(vectors, models, budgets[1], kept.root)
    with kept.journal.exclusive(), kept.journal.writer() as append:
        async with talk.connected() as first, embed.connected() as second:
            yield Proxy(kept.known(), Upstream(first, second, append), chat.output_tokens)


def prices(settings: ProxySettings, root: Path) -> tuple[Price, Price]:
    """Return the prices of chat and of embeddings.

    Args:
        settings: the models.
        root: the checkout with conf/models.yaml.

    Raises:
        ConfigurationError: a price is unknown.
    """
    models = models_of(root)
    return settings.chat.price_in(models), settings.embeddings.price_in(models)
