"""A model behind the memory, for other programs: what is known is replayed, the rest is asked once.

Other programs make requests of their own, so nothing here knows what will be needed. A request is
kept under a key over all of its body that can change the answer, and under the number of the
sample where a program wants several answers to one request.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bears.errors import MemoryMiss
from bears.files.journal import Append
from bears.llm.client.embedding_wire import EmbeddingRequest, read_vectors
from bears.llm.client.errors import ClientError, RequestRefused, RunStopped
from bears.llm.client.forward import Completion, Forwarded, Forwarding, read_completion
from bears.llm.client.retry import Charged
from bears.llm.replies.proxied_requests import (
    chat_body,
    chat_request,
    completion_of,
    packed,
    vectors_told,
    wanted_texts,
)
from bears.llm.replies.published import MemoryEntry, PublishedMemory, key_of

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

    chat: Forwarding
    embeddings: Forwarding
    append: Append


Ask = Callable[[Upstream, list[str]], Awaitable[dict[str, str]]]
"""Asks for the requests of these keys, keeps what each is answered, and gives it."""


class Proxy:
    """What `bears.llm.replies.server` serves.

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
        self._newer = False
        self._in_flight: dict[str, asyncio.Task[dict[str, str]]] = {}
        self._stopped: RunStopped | OSError | None = None

    @property
    def spent(self) -> float:
        """US dollars so far."""
        up = self._upstream
        return up.chat.spent + up.embeddings.spent if up else 0.0

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
        request = chat_request(body)
        key = key_of({"use": NAME, "chat": body, "sample": sample})

        async def ask(upstream: Upstream, _: list[str]) -> dict[str, str]:
            came = await self._completion(upstream.chat, request, body)
            content = json.dumps(came.content, ensure_ascii=False, sort_keys=True)
            text = str(body["messages"][-1].get("content"))[-SHOWN:]
            entry = MemoryEntry(key, "", "chat", text, content)
            await self._keep(upstream, [entry], body["model"], came)
            return {key: content}

        found = await self._answers({key: request}, ask)
        head = {"id": f"chatcmpl-{key[:24]}", "object": "chat.completion", "created": 0}
        return {**head, **completion_of(found[key])}

    async def _completion(
        self, chat: Forwarding, request: Forwarded, body: dict[str, Any]
    ) -> Completion:
        """Ask, with the limit under the name that the model takes: newer ones want another."""
        old, new = "max_tokens", "max_completion_tokens"
        newer = {new: body.get(old), **{name: body[name] for name in body if name != old}}

        def read(told: Any) -> Completion:
            return read_completion(told, request)

        try:
            return await chat(request, newer if self._newer else body, read)
        except RequestRefused as refused:
            if self._newer or old not in body or new not in str(refused):
                raise
        self._newer = True
        return await chat(request, newer, read)

    async def embed(self, asked: Any) -> dict[str, Any]:
        """The embeddings of a request, each of whose texts is kept by itself.

        Raises:
            RequestRefused, MemoryMiss, ClientError, OSError: as `chat`.
        """
        texts = wanted_texts(asked)
        part = {name: asked[name] for name in ("model", "dimensions") if name in asked}
        keys = {key_of({"use": NAME, "embedding": part, "text": text}): text for text in texts}

        async def ask(upstream: Upstream, fresh: list[str]) -> dict[str, str]:
            request = EmbeddingRequest(tuple(keys[key] for key in fresh), 0)
            body = {**part, "input": request.texts, "encoding_format": "base64"}
            came = await upstream.embeddings(
                request, body, lambda told: read_vectors(told, request)
            )
            entries = [
                MemoryEntry(key, "", "embedding", keys[key][-SHOWN:], packed(vector))
                for key, vector in zip(fresh, came.vectors, strict=True)
            ]
            await self._keep(upstream, entries, part["model"], came)
            return {entry.key: entry.answer for entry in entries}

        found = await self._answers(
            {key: EmbeddingRequest((text,), 0) for key, text in keys.items()}, ask
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
