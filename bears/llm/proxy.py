"""A memory opened for other programs: with a model behind it, or as it is."""

import asyncio
import json
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bears.errors import ConfigurationError, FormatError, MemoryCorrupt, MemoryMiss
from bears.files.intake.json_text import json_value
from bears.files.journal import Append
from bears.llm.budget import Budget
from bears.llm.client import Charged, Client, Connection, Embeddings
from bears.llm.embedding import Embedded, EmbeddingRequest
from bears.llm.endpoint import Endpoint
from bears.llm.faults import LIMIT, ClientError, RequestRefused, RunStopped
from bears.llm.kept import Kept, MemoryEntry, PublishedMemory, key_of
from bears.llm.models import MESSAGE_TOKENS, Model, Price, ceiling, load_models
from bears.llm.wire import used
from bears.types import Closed

IDLE = (
    *("user", "metadata", "store", "stream", "stream_options", "service_tier"),
    *("prompt_cache_key", "prompt_cache_retention", "safety_identifier"),
)
"""Parts of a request that change no answer."""
LIMITS = ("max_completion_tokens", "max_tokens")
SAYING = ("content", "refusal", "tool_calls", "function_call", "audio")
"""Parts of a message that say something."""


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


@dataclass(frozen=True, slots=True)
class Forwarded:
    """A chat request as another program made it.

    Args:
        asked: a body of `chat_body`.
    """

    asked: Mapping[str, Any]

    @property
    def max_output_tokens(self) -> int:
        """The most tokens of all its answers together."""
        most: int = max(self.asked.get(name) or 0 for name in LIMITS)
        return most * (self.asked.get("n") or 1)

    @property
    def words(self) -> str:
        """All of it as text."""
        return json.dumps(self.asked, ensure_ascii=False)

    def most_input_tokens(self) -> int:
        """More tokens than it can have by any tokenizer; schemas and tools are told twice."""
        return 2 * ceiling(self.words) + MESSAGE_TOKENS * len(self.asked["messages"])

    def expected_tokens(self) -> int:
        """Return about what the provider counts against tokens a minute."""
        return len(self.words.encode()) // 4 + self.max_output_tokens

    def body(self, name: str, model: Model, learned: Collection[str]) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the request, with its limit under the name that the model was learned to take."""
        if LIMIT not in learned or "max_tokens" not in self.asked:
            return self.asked
        others = {name: self.asked[name] for name in self.asked if name != "max_tokens"}
        return {"max_completion_tokens": self.asked["max_tokens"], **others}

    def read(self, body: Any) -> "Completion":
        """Read a chat completion without what is another each time: its id and its date.

        Raises:
            ValueError: it is none, half of a character is in it, or it ends before its first word
                though nothing stopped it, which the next one may not.
        """
        try:
            silent = [choice for choice in body["choices"] if _is_silent(choice)]
            content = {name: body[name] for name in ("choices", "model", "usage") if name in body}
            sent = used(body, "prompt_tokens", self.most_input_tokens())
            came = used(body, "completion_tokens", self.max_output_tokens)
        except (KeyError, TypeError, AttributeError) as error:
            name = type(error).__name__
            raise ValueError(f"the answer is no chat completion ({name})") from None
        if silent or not content["choices"]:
            raise ValueError("the answer has no words")
        json.dumps(content, ensure_ascii=False).encode()
        return Completion(content, sent, came)


def _is_silent(choice: Any) -> bool:
    said = any(choice["message"].get(part) for part in SAYING)
    return not said and choice.get("finish_reason") in ("stop", None)


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, as its provider has it.

    Args:
        content: what of the answer says something: choices, the model's name, usage.
        input_tokens, output_tokens: as charged; where the server does not say, at most.
    """

    content: Mapping[str, Any]
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ForwardedTexts(EmbeddingRequest):
    """Texts of a request that another program made.

    Args:
        part: what of it decides on the vectors: its model, and the dimensions if it names them.
    """

    dimensions: int = 0
    part: Mapping[str, Any] = field(default_factory=dict)

    def body(self, name: str, model: Model, learned: Collection[str]) -> dict[str, Any]:  # noqa: ARG002
        """Return the request."""
        return {**self.part, "input": self.texts, "encoding_format": "base64"}


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


NAME = "proxied"
"""Of the use: the ``kind`` of its rows in the journal, and their field."""

SHOWN = 1000
"""Characters of a request that are kept for a person; its end says what it is about."""

Wanted = Mapping[str, Forwarded | EmbeddingRequest]
"""Requests by their keys."""


@dataclass(frozen=True)
class Upstream:
    """What is asked for that the memory lacks.

    Args:
        chat, embeddings: the models.
        append: journals one row.
    """

    chat: Connection[Forwarded, Completion]
    embeddings: Connection[EmbeddingRequest, Embedded]
    append: Append


Ask = Callable[[Upstream, list[str]], Awaitable[dict[str, str]]]
"""Asks for the requests of these keys, keeps what each is answered, and gives it."""


class Proxy:
    """What `bears.llm.server` serves.

    Args:
        known: what is there; grows.
        upstream: None: what is not there stays unanswered.
        output_tokens: the most of a chat request that names no limit of its own.
    """

    def __init__(
        self, known: PublishedMemory, upstream: Upstream | None = None, output_tokens: int = 4096
    ) -> None:
        self.used: dict[str, MemoryEntry] = {}
        """What was answered and is kept, by key."""
        self.missed: dict[str, Forwarded | EmbeddingRequest] = {}
        """What was not answered, by key."""
        self.asked = 0
        """Requests that went to a model."""
        self.problem = ""
        """Why the first of them that failed has no answer."""
        self._known, self._upstream, self._output_tokens = known, upstream, output_tokens
        self._in_flight: dict[str, asyncio.Task[dict[str, str]]] = {}
        self._stopped: RunStopped | OSError | None = None

    @property
    def spent(self) -> float:
        """US dollars so far."""
        up = self._upstream
        lines = (up.chat, up.embeddings) if up else ()
        return sum((line.client.budget.spent for line in lines), 0.0)

    async def chat(self, asked: Any, sample: int = 0) -> dict[str, Any]:
        """The chat completion of a request.

        Args:
            asked: its JSON.
            sample: which of several answers to the same request is meant, from 0.

        Raises:
            RequestRefused: it is no request of texts.
            MemoryMiss: the memory lacks it, and nothing may be asked.
            ClientError: there is no answer.
            OSError: it cannot be kept; nothing more is asked.
        """
        body = chat_body(asked, self._output_tokens)
        request = Forwarded(body)
        key = key_of({"use": NAME, "chat": body, "sample": sample})

        async def ask(upstream: Upstream, _: list[str]) -> dict[str, str]:
            came = await upstream.chat(request)
            content = json.dumps(came.content, ensure_ascii=False, sort_keys=True)
            text = str(body["messages"][-1].get("content"))[-SHOWN:]
            entry = MemoryEntry(key, "", "chat", text, content)
            await self._keep(upstream, [entry], body["model"], came)
            return {key: content}

        found = await self._answers({key: request}, ask)
        head = {"id": f"chatcmpl-{key[:24]}", "object": "chat.completion", "created": 0}
        return {**head, **completion_of(found[key])}

    async def embed(self, asked: Any) -> dict[str, Any]:
        """The embeddings of a request, each of whose texts is kept by itself.

        Raises:
            RequestRefused, MemoryMiss, ClientError, OSError: as `chat`.
        """
        texts = wanted_texts(asked)
        part = {name: asked[name] for name in ("model", "dimensions") if name in asked}
        keys = {key_of({"use": NAME, "embedding": part, "text": text}): text for text in texts}

        async def ask(upstream: Upstream, fresh: list[str]) -> dict[str, str]:
            request = ForwardedTexts(tuple(keys[key] for key in fresh), part=part)
            came = await upstream.embeddings(request)
            entries = [
                MemoryEntry(key, "", "embedding", keys[key][-SHOWN:], packed(vector))
                for key, vector in zip(fresh, came.vectors, strict=True)
            ]
            await self._keep(upstream, entries, part["model"], came)
            return {entry.key: entry.answer for entry in entries}

        found = await self._answers(
            {key: ForwardedTexts((text,)) for key, text in keys.items()}, ask
        )
        by_text = {text: found[key] for key, text in keys.items()}
        return vectors_told(asked, [by_text[text] for text in texts])

    async def _answers(self, wanted: Wanted, ask: Ask) -> dict[str, str]:
        """The answer of each key; what is in flight for somebody else is waited for."""
        for key in wanted:
            if entry := self._known.get(key, ""):
                self.used[key] = entry
        found = {key: self.used[key].answer for key in wanted if key in self.used}
        left = [key for key in wanted if key not in found]
        if fresh := [key for key in left if key not in self._in_flight]:
            self._start(fresh, wanted, ask)
        for task in {self._in_flight[key] for key in left}:
            # Whoever asked may leave meanwhile; the answer is paid for all the same.
            found |= await asyncio.shield(task)
        return found

    def _start(self, fresh: list[str], wanted: Wanted, ask: Ask) -> None:
        if self._stopped:
            raise self._stopped
        if self._upstream is None:
            self.missed |= {key: wanted[key] for key in fresh}
            raise MemoryMiss(f"the memory lacks {len(fresh)} of what is asked for here")
        task = asyncio.create_task(self._asking(self._upstream, fresh, ask))
        self._in_flight |= dict.fromkeys(fresh, task)

    async def _asking(self, upstream: Upstream, fresh: list[str], ask: Ask) -> dict[str, str]:
        self.asked += 1
        try:
            return await ask(upstream, fresh)
        except (ClientError, OSError) as error:
            self.problem = self.problem or str(error)
            if isinstance(error, RunStopped | OSError):
                self._stopped = error
            raise
        finally:
            for key in fresh:
                del self._in_flight[key]

    async def _keep(
        self, upstream: Upstream, entries: list[MemoryEntry], model: str, charged: Charged
    ) -> None:
        """Journal what came of one request; it is told to nobody before it is on disk."""
        tokens = {"input_tokens": charged.input_tokens, "output_tokens": charged.output_tokens}
        rows = (
            {**entry.row(NAME), "kind": NAME, "reasons": [], "model": model}
            | (tokens if place == 0 else {})
            for place, entry in enumerate(entries)
        )
        await asyncio.gather(*map(asyncio.wrap_future, map(upstream.append, rows)))
        self._known.add(*entries)
        self.used |= {entry.key: entry for entry in entries}


@dataclass(frozen=True)
class ChatSettings(Endpoint):
    """The model that is asked; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.chat"

    output_tokens: int = 4096

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.output_tokens < 1:
            raise ConfigurationError(
                f"{self.where}.output_tokens is {self.output_tokens}; expected 1 or more"
            )


@dataclass(frozen=True)
class EmbeddingSettings(Endpoint):
    """The model that gives vectors; see conf/proxy/openai.yaml."""

    where: ClassVar[str] = "proxy.embeddings"


@dataclass(frozen=True)
class ProxySettings(Closed):
    """One conf/proxy/<name>.yaml."""

    name: str
    chat: ChatSettings
    embeddings: EmbeddingSettings

    @property
    def models(self) -> tuple[str, str]:
        """Of chat and of embeddings."""
        return self.chat.model, self.embeddings.model


@asynccontextmanager
async def proxied(settings: ProxySettings, kept: Kept, ask: bool) -> AsyncIterator[Proxy]:
    """The memory, and while the block runs the models behind it.

    Args:
        settings: the models, and how they are asked.
        kept: the memory of `bears.llm.proxy.NAME`.
        ask: whether what is missing is asked for; else nothing is, and no key is needed.

    Raises:
        ConfigurationError: there is no price or no key.
    """
    chat, vectors = settings.chat, settings.embeddings
    if not ask:
        yield Proxy(kept.known(), None, chat.output_tokens)
        return
    models = load_models(kept.root / "conf" / "models.yaml")
    budgets = [Budget(each.budget, each.price_in(models), each.where) for each in (chat, vectors)]
    talk = Client[Forwarded, Completion](chat, models, budgets[0], kept.root)
    embed = Embeddings(vectors, models, budgets[1], kept.root)
    with kept.journal.exclusive(), kept.journal.writer() as append:
        async with talk.connected() as first, embed.connected() as second:
            yield Proxy(kept.known(), Upstream(first, second, append), chat.output_tokens)


def prices(settings: ProxySettings, root: Path) -> tuple[Price, Price]:
    """What tokens of chat and of embeddings cost.

    Args:
        root: the checkout with conf/models.yaml.

    Raises:
        ConfigurationError: nobody has said so.
    """
    models = load_models(root / "conf" / "models.yaml")
    return settings.chat.price_in(models), settings.embeddings.price_in(models)
