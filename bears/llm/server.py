"""An OpenAI-compatible server on loopback that replays kept replies for other programs."""

import hmac
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from bears.errors import BearsError, FormatError, RepliesMissing
from bears.files.intake.json_text import json_value
from bears.llm.faults import BudgetExhausted, ClientError, RequestRefused
from bears.llm.proxy import Proxy

SAMPLE = "X-Sample"
"""The header with the number of the answer, from 0, if one request has several."""

LARGEST = 64 * 1024 * 1024
"""The largest request in bytes."""

CODES: dict[type[Exception], tuple[int, str]] = {
    FormatError: (400, "invalid_request_error"),
    RequestRefused: (400, "invalid_request_error"),
    BudgetExhausted: (402, "budget_exhausted"),
    RepliesMissing: (404, "reply_missing"),
}
"""The status and code of each error. Clients of the protocol do not retry these."""


@dataclass(frozen=True)
class Address:
    """The address and the key of a running server."""

    base_url: str
    key: str


@asynccontextmanager
async def serving(proxy: Proxy, models: tuple[str, str], port: int = 0) -> AsyncIterator[Address]:
    """Serve kept replies on 127.0.0.1 while the block runs.

    Args:
        proxy: answers the requests.
        models: of chat and of embeddings; a request for any other model is refused.
        port: 0: any free port.

    Raises:
        OSError: the port is in use.
    """
    key = secrets.token_urlsafe(24)
    app = web.Application(client_max_size=LARGEST)

    async def chat(request: web.Request) -> web.Response:
        body = await _body(request, models[0])
        return web.json_response(await proxy.chat(body, _sample(request)))

    async def embed(request: web.Request) -> web.Response:
        return web.json_response(await proxy.embed(await _body(request, models[1])))

    app.router.add_post("/v1/chat/completions", _answering(chat, key))
    app.router.add_post("/v1/embeddings", _answering(embed, key))
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        port = runner.addresses[0][1]
        yield Address(f"http://127.0.0.1:{port}/v1", key)
    finally:
        await runner.cleanup()


Handler = Callable[[web.Request], Awaitable[web.Response]]


def _answering(handler: Handler, key: str) -> Handler:
    """Wrap a handler: require the key, and report errors in the form of the protocol."""

    async def answer(request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        # A header need not be UTF-8.
        sent = given.encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(sent, f"Bearer {key}".encode()):
            return _error(401, "invalid_api_key", "this is not the key that the server printed")
        try:
            return await handler(request)
        except (BearsError, OSError) as error:
            other = (502, "no_answer") if isinstance(error, ClientError) else (500, "not_kept")
            return _error(*CODES.get(type(error), other), str(error))

    return answer


async def _body(request: web.Request, model: str) -> object:
    body = json_value(await request.read(), "the request")
    named = body.get("model") if isinstance(body, dict) else None
    if named is not None and named != model:
        raise RequestRefused(f"the model {named!r:.80} is not served here; {model!r} is")
    return body


def _sample(request: web.Request) -> int:
    word = request.headers.get(SAMPLE, "0")
    if not (word.isascii() and word.isdecimal() and len(word) < 7):
        raise RequestRefused(f"{SAMPLE} is {word!r:.40}; expected a whole number from 0")
    return int(word)


def _error(status: int, code: str, message: str) -> web.Response:
    error = {"message": message, "type": code, "code": code, "param": None}
    return web.json_response({"error": error}, status=status)
