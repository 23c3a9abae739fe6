"""A model's provider on loopback, in its own process: its wire format, and faults on demand.

    with ProviderServer(behaviour="tests.llm.test_client:shout", latency=0.2) as server:
        Endpoint(model="m", base_url=server.url, api_key_env="")
        server.stats()      # what was asked, how it was answered
        server.prompts()    # the JSON of every request, in order

``behaviour`` names a function of a module, ``module:function``: it gets the request's JSON and
returns the answer's text, or a dict of what differs in the answer (``text``, ``finish_reason``,
``refusal``, ``status``, ``headers``, ``body``). The server imports it by that name, so it must be
at the top level of a module that can be imported from the project's root.
"""

from __future__ import annotations

import asyncio
import atexit
import base64
import gzip
import importlib
import json
import random
import struct
import subprocess
import sys
import time
import urllib.request
import zlib
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

Json = dict[str, Any]
Behaviour = Callable[[Json], Any]
ROOT = Path(__file__).resolve().parents[1]


@dataclass
class Faults:
    """How the provider misbehaves.

    Args:
        latency: seconds before every answer.
        seed: of the dice.
        chances: kind of fault to its probability; see `ERRORS`, `ANSWERS` and `_spoilt`.
        content: text within the user's message to the kind of fault it always meets.
        limit: requests a minute; 0: no limit.
        limiter: ``bucket``, ``sliding`` or ``fixed``.
        headers: whether ``x-ratelimit-…`` headers report the limit.
        key: only this key is taken; empty: any.
        no_schema: requests with a response_format are refused.
        status: every request is answered so.
        error_code: with ``status``, the code of the error.
        limited_s: how long a refusal by chance asks to wait.
        last: how many requests are answered, and the status and the body of all later responses.
    """

    latency: float = 0.0
    seed: int = 0
    chances: dict[str, float] = field(default_factory=dict)
    content: dict[str, str] = field(default_factory=dict)
    limit: float = 0
    limiter: str = "bucket"
    headers: bool = True
    key: str = ""
    no_schema: bool = False
    status: int = 0
    error_code: str = "mock_error"
    limited_s: float = 0.05
    last: tuple[int, int, Any] | None = None


class ProviderServer:
    """Start the server, and stop it at the end of the ``with`` block.

    Args:
        behaviour: ``module:function``; empty: `repeat`.
        faults: the fields of `Faults`.
    """

    _idle: ClassVar[list[subprocess.Popen[str]]] = []
    """Idle processes for the next test, since starting one is slow."""

    def __init__(self, behaviour: str = "", **faults: Any) -> None:
        self._settings = {
            "behaviour": behaviour or f"{__name__}:repeat",
            **asdict(Faults(**faults)),
        }
        self.url = ""
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self._process = self._idle.pop() if self._idle else _begun()
        port = self._command(json.dumps(self._settings))
        assert port, "the server did not start"
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._command("") == "stopped"
        self._idle.append(self._process)

    def _command(self, line: str) -> str:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(line, file=self._process.stdin, flush=True)
        return self._process.stdout.readline().strip()

    def stats(self) -> Json:
        """Return counts: requests, most in flight, answers by status, faults by kind."""
        result: Json = self._get("/stats")
        return result

    def prompts(self) -> list[Json]:
        """Return the JSON of every chat request in order of arrival."""
        result: list[Json] = self._get("/prompts")
        return result

    def change(self, **faults: Any) -> None:
        """Change faults while the server runs."""
        self._get("/change", json.dumps(faults).encode())

    def reset(self, **faults: Any) -> None:
        """Forget all requests, and start again with other faults."""
        self._get("/reset", json.dumps(faults).encode())

    def _get(self, path: str, body: bytes | None = None) -> Any:
        with urllib.request.urlopen(self.url.removesuffix("/v1") + path, body, timeout=60) as reply:
            return json.loads(reply.read())


def _begun() -> subprocess.Popen[str]:
    """Start a process that ends with its standard input, so also with a killed test session."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.provider_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    atexit.register(process.kill)
    return process


def repeat(request: Json) -> str:
    """Return the user's message in brackets; the default behaviour."""
    return f"[{request['messages'][-1]['content']}]"


@dataclass
class Reply:
    """An HTTP response."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    delay: float = 0.0

    def wire(self) -> bytes:
        head = f"HTTP/1.1 {self.status} Mock\r\nContent-Length: {len(self.body)}\r\n"
        lines = {"Content-Type": "application/json", **self.headers}
        head += "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return head.encode() + b"\r\n" + self.body


class Limiter:
    """A provider's limit of requests per minute. Pure: it takes the time."""

    def __init__(self, kind: str, limit: float, capacity: float = 0) -> None:
        self.kind, self.limit, self.capacity = kind, limit, capacity or limit
        self.level, self.at = self.capacity, float("-inf")
        self.taken: deque[float] = deque()

    def take(self, now: float) -> tuple[bool, float, float]:
        """Return whether a request is allowed, how many are left, and seconds until the next."""
        if self.kind == "bucket":
            if self.at > float("-inf"):
                gained = (now - self.at) * self.limit / 60
                self.level = min(self.capacity, self.level + gained)
            self.at = now
            allowed = self.level >= 1
            self.level -= allowed
            return allowed, self.level // 1, max(0.0, (1 - self.level) * 60 / self.limit)
        start = now - 60 if self.kind == "sliding" else now // 60 * 60
        while self.taken and self.taken[0] <= start - (self.kind == "fixed") * 1e-9:
            self.taken.popleft()
        allowed = len(self.taken) < self.limit
        if allowed:
            self.taken.append(now)
        free = self.taken[0] + 60 if self.kind == "sliding" else start + 60
        left = self.limit - len(self.taken)
        return allowed, left, 0.0 if left >= 1 else free - now


class Provider:
    """The state of the server."""

    def __init__(self, behaviour: Behaviour, faults: Faults) -> None:
        self.behaviour, self.faults = behaviour, faults
        self.dice = random.Random(faults.seed)
        self.limiter = Limiter(faults.limiter, faults.limit)
        self.counts: Counter[str] = Counter()
        self.prompts: list[Json] = []

    def reply(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        if path in ("/stats", "/prompts", "/change", "/reset"):
            return self._control(path, body)
        authorization = headers.get("authorization", "")
        if self.faults.key and authorization != f"Bearer {self.faults.key}":
            return error(401, "invalid_api_key", f"Incorrect API key provided: {authorization}")
        if path in ("/v1/chat/completions", "/v1/embeddings"):
            return self._asked(body, authorization)
        return error(404, "unknown_url", f"Unknown request URL: {method} {path}")

    def _control(self, path: str, body: bytes) -> Reply:
        if path == "/change":
            for name, value in json.loads(body).items():
                setattr(self.faults, name, value)
        if path == "/reset":
            vars(self).update(vars(Provider(self.behaviour, Faults(**json.loads(body)))))
        if path == "/prompts":
            return as_json(self.prompts)
        return as_json(dict(self.counts))

    def _asked(self, body: bytes, authorization: str) -> Reply:
        self.counts["requests"] += 1
        request = json.loads(body)
        if isinstance(request.get("input"), str):
            request["input"] = [request["input"]]
        self.prompts.append(request)
        reply = self._limited() or self._faulty(request, authorization) or self.answer(request)
        reply.delay += self.faults.latency
        self.counts[f"status {reply.status}"] += 1
        return reply

    def _limited(self) -> Reply | None:
        self._limit_headers: dict[str, str] = {}
        if not self.faults.limit:
            return None
        allowed, left, wait = self.limiter.take(time.monotonic())
        if self.faults.headers:
            self._limit_headers = {
                "x-ratelimit-limit-requests": f"{self.faults.limit:g}",
                "x-ratelimit-remaining-requests": f"{left:.0f}",
                "x-ratelimit-reset-requests": f"{wait * 1000:.0f}ms",
            }
        if allowed:
            return None
        reply = error(429, "rate_limit_exceeded", "Rate limit reached for requests")
        reply.headers |= self._limit_headers
        reply.headers["Retry-After"] = f"{wait:.3f}"
        return reply

    def _faulty(self, request: Json, authorization: str) -> Reply | None:
        if self.faults.last and self.counts["requests"] > self.faults.last[0]:
            _, status, body = self.faults.last
            return Reply(status, json.dumps(body).encode())
        if self.faults.status:
            content = f"mock error for {authorization}"
            return error(self.faults.status, self.faults.error_code, content)
        if self.faults.no_schema and "response_format" in request:
            return error(400, "invalid_request_error", "Unknown field: response_format")
        if "input" in request and (content := refused_texts(request)):
            return error(400, "invalid_request_error", content)
        texts = request.get("input") or [request["messages"][-1]["content"]]
        kind = self._kind("\n".join(texts))
        if not kind:
            return None
        self.counts[f"fault {kind}"] += 1
        if kind in ERRORS:
            return error(*ERRORS[kind])
        if kind in ANSWERS:
            return self.answer(request, **ANSWERS[kind])
        return _spoilt(kind, self, request)

    def text(self, request: Json) -> str:
        """Return the text of a good answer."""
        given = self.behaviour(request)
        return given if isinstance(given, str) else str(given["text"])

    def _kind(self, text: str) -> str:
        for marker, kind in self.faults.content.items():
            if marker in text:
                return kind
        roll = self.dice.random()
        for kind, chance in self.faults.chances.items():
            if roll < chance:
                return kind
            roll -= chance
        return ""

    def answer(self, request: Json, **different: Any) -> Reply:
        """Return a good answer by the behaviour, with some ``different`` parts."""
        if "input" in request:
            rows = different.get("rows") or embedding_rows(request)
            self.dice.shuffle(rows)
            content = json.dumps(embeddings(request, rows)).encode()
            return Reply(200, content, dict(self._limit_headers))
        given = self.behaviour(request)
        given = {"text": given} if isinstance(given, str) else given
        given = {**given, **different}
        body = given.get("body") or completion(request, **given)
        headers = {**self._limit_headers, **given.get("headers", {})}
        return Reply(given.get("status", 200), json.dumps(body).encode(), headers)


ERRORS = {
    "limited_bare": (429, "rate_limit_exceeded", "Rate limit reached"),
    "server_error": (500, "server_error", "The server had an error"),
    "bad_request": (400, "invalid_request_error", "Invalid value"),
    "unsafe": (400, "content_filter", "Content Exists Risk"),
}
"""Kinds of faults that are an error: status, code and message."""
ANSWERS: dict[str, dict[str, Any]] = {
    "refusal": {"text": None, "refusal": "I'm sorry, I can't help with that."},
    "content_filter": {"text": "", "finish_reason": "content_filter"},
    "empty": {"text": ""},
    "wrong_language": {"text": "Ceci est une traduction dans une autre langue."},
}
"""Kinds of faults that are another answer: what differs in it."""


def _spoilt(kind: str, provider: Provider, request: Json) -> Reply:
    """Return a reply with one of the other kinds of faults."""
    if kind == "invalid_json":
        return Reply(200, b'{"choices": [{"mess')
    if kind == "no_choices":
        return as_json({"choices": []})
    if kind == "bomb":
        # An answer, or an error, of 30 MB in 30 kB.
        status = 400 if "error" in request["messages"][-1]["content"] else 200
        return Reply(status, gzip.compress(b" " * 30_000_000), {"Content-Encoding": "gzip"})
    if kind == "limited":
        reply = error(*ERRORS["limited_bare"])
        reply.headers["Retry-After"] = f"{provider.faults.limited_s}"
        return reply
    if kind in ("hang", "cut"):
        reply = provider.answer(request)
        reply.delay, reply.cut = 3600 * (kind == "hang"), kind == "cut"
        return reply
    if kind == "echo":
        return provider.answer(request, text=request["messages"][-1]["content"])
    if kind not in ("truncated", "chatter"):
        return provider.answer(request, rows=_faulty_rows(kind, request))
    text = provider.text(request)
    if kind == "truncated":
        return provider.answer(request, text=text[: len(text) // 2], finish_reason="length")
    return provider.answer(request, text=f"Sure! Here is the translation:\n\n{text}")


def _faulty_rows(kind: str, request: Json) -> list[Json]:
    """Return the vectors of a request with one kind of fault."""
    number = {**request, "encoding_format": "float"}
    if kind in ("too_large", "nested"):
        rows = embedding_rows(number)
    elif kind == "short":
        rows = embedding_rows({**request, "dimensions": request["dimensions"] // 2})
    else:
        rows = embedding_rows(request)
    if kind == "not_finite":
        rows[-1]["embedding"] = packed([float("nan")] * request["dimensions"])
    elif kind == "zeros":
        rows[0]["embedding"] = packed([0.0] * request["dimensions"])
    elif kind == "too_large":
        rows[0]["embedding"][0] = 1e300
    elif kind == "nested":
        rows = [{**row, "embedding": [row["embedding"]]} for row in rows]
    elif kind == "infinite_place":
        rows = [{**row, "index": float("inf")} for row in rows]
    elif kind == "fewer":
        rows = rows[:-1]
    elif kind == "twice":
        rows = [*rows, {**rows[-1], "index": 0}]
    return rows


def as_json(value: Any) -> Reply:
    return Reply(200, json.dumps(value).encode())


def error(status: int, code: str, message: str) -> Reply:
    content = {"message": message, "type": code, "param": None, "code": code}
    return Reply(status, json.dumps({"error": content}).encode())


def completion(
    request: Json,
    text: str | None,
    finish_reason: str = "stop",
    refusal: str | None = None,
    **_: Any,
) -> Json:
    """Return a chat completion; it counts a token per four bytes."""
    sent = sum(len(message["content"].encode()) for message in request["messages"]) // 4 + 1
    answered = len((text or refusal or "").encode("utf-8", "surrogatepass")) // 4 + 1
    message = {"role": "assistant", "content": text, "refusal": refusal}
    return {
        "id": "chatcmpl-mock", "object": "chat.completion", "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "logprobs": None,
                     "finish_reason": finish_reason}],
        "usage": {"prompt_tokens": sent, "completion_tokens": answered,
                  "total_tokens": sent + answered},
    }  # fmt: skip


def word_vector(text: str, dimensions: int) -> list[float]:
    """Count each word, at an index that its bytes determine."""
    values = [0.0] * dimensions
    for word in text.lower().split():
        values[zlib.crc32(word.encode()) % dimensions] += 1
    return values


def packed(values: list[float]) -> str:
    """Encode values as ``encoding_format: base64`` does: little-endian float32."""
    return base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()


def embedding_rows(request: Json) -> list[Json]:
    """Return the vectors of a request, each with the index of its text."""
    write = packed if request.get("encoding_format") == "base64" else list
    dimensions = request.get("dimensions", 1536)
    return [
        {"object": "embedding", "index": n, "embedding": write(word_vector(text, dimensions))}
        for n, text in enumerate(request["input"])
    ]


def embeddings(request: Json, rows: list[Json]) -> Json:
    """Return an answer of /embeddings; it counts a token per four bytes."""
    sent = sum(len(text.encode()) // 4 + 1 for text in request["input"])
    usage = {"prompt_tokens": sent, "total_tokens": sent}
    return {"object": "list", "data": rows, "model": request["model"], "usage": usage}


def refused_texts(request: Json) -> str:
    """Return why the provider refuses an embedding request; empty if it accepts it."""
    if not 0 < len(request["input"]) <= 2048:
        return "'input' must have 1 to 2048 items."
    if "" in request["input"]:
        return "'$.input' is invalid: an item is an empty string."
    if "dimensions" in request and "ada" in request["model"]:
        return "This model does not support specifying dimensions."
    return ""


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with keep-alive and Content-Length, which is all that our clients use."""

    open: ClassVar[set[asyncio.Transport]] = set()

    def __init__(self, provider: Provider) -> None:
        self.provider, self.buffer = provider, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.open.add(transport)

    def connection_lost(self, _: Exception | None) -> None:
        self.open.discard(self.transport)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", 0))
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        method, path, _ = first.split(" ")
        reply = self.provider.reply(method, path, headers, rest[:length])
        self._count(1)
        if reply.delay:
            asyncio.get_running_loop().call_later(reply.delay, self._send, reply)
        else:
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        self._count(-1)
        wire = reply.wire()
        self.transport.write(wire[: len(wire) - 20] if reply.cut else wire)
        if reply.cut:
            self.transport.close()

    def _count(self, change: int) -> None:
        counts = self.provider.counts
        counts["in flight"] += change
        counts["most in flight"] = max(counts["most in flight"], counts["in flight"])


async def _serve() -> None:
    """Start a server for each line of settings on standard input; an empty line stops it."""
    server: asyncio.Server | None = None
    port = 0
    while line := await asyncio.to_thread(sys.stdin.readline):
        if server:
            server.close()
            for connection in _Connection.open:
                connection.abort()
        server = await _listening(json.loads(line), port) if line.strip() else None
        port = server.sockets[0].getsockname()[1] if server else port
        print(port if server else "stopped", flush=True)


async def _listening(settings: Json, port: int) -> asyncio.Server:
    """Listen on the same port as before, if it is still free."""
    module, name = settings.pop("behaviour").split(":")
    # The state of a behaviour ends with its server.
    known = sys.modules.get(module)
    behaviour = getattr(importlib.reload(known) if known else importlib.import_module(module), name)
    provider = Provider(behaviour, Faults(**settings))
    begin = partial(
        asyncio.get_running_loop().create_server,
        lambda: _Connection(provider),
        "127.0.0.1",
        backlog=1024,
    )
    try:
        return await begin(port=port)
    except OSError:
        return await begin(port=0)


if __name__ == "__main__":
    asyncio.run(_serve())
