"""The HTTP under the openai client: aiohttp, with nothing between that a request does not need.

At 320 requests a second httpx2's own path (cookies, redirects, three parsings of each URL,
streams) costs as much as everything else together, and on a small machine that is seconds.
"""

from __future__ import annotations

import os
from typing import Any

import aiohttp
import httpx2


class Transport(httpx2.AsyncBaseTransport):
    """Send requests through one aiohttp session with enough connections.

    Args:
        connections: how many there are at most.
        timeout_s: how long one request may take, from the first byte to the last.
    """

    def __init__(self, connections: int, timeout_s: float) -> None:
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(total=timeout_s, ceil_threshold=3600)
        self._session: aiohttp.ClientSession | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send ``request`` and read the whole answer."""
        headers = {
            name.decode("ascii"): value.decode("latin-1") for name, value in request.headers.raw
        }
        try:
            async with self._open().request(
                request.method,
                str(request.url),
                headers=headers,
                data=request.content,
                allow_redirects=False,
            ) as response:
                body = await response.read()
                kept = [pair for pair in response.raw_headers if pair[0].lower() not in _DECODED]
                return httpx2.Response(response.status, headers=kept, content=body, request=request)
        except TimeoutError as error:
            raise httpx2.ReadTimeout(type(error).__name__, request=request) from None
        except (aiohttp.ClientError, OSError) as error:
            raise httpx2.ReadError(type(error).__name__, request=request) from None

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        # A session belongs to the event loop it is made in, so it is made at the first request.
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=self._timeout,
                trust_env=any(name.lower().endswith("_proxy") for name in os.environ),
            )
        return self._session


_DECODED = (b"content-encoding", b"content-length", b"transfer-encoding")


class LeanClient(httpx2.AsyncClient):
    """An httpx2 client whose way from openai to the transport is short."""

    def __init__(self, connections: int, timeout_s: float) -> None:
        self._lean = Transport(connections, timeout_s)
        self._urls: dict[str, httpx2.URL] = {}
        super().__init__(transport=self._lean, trust_env=False)

    def build_request(self, method: str, url: Any, **kwargs: Any) -> httpx2.Request:
        """Build a plain request directly, and anything else as httpx2 does."""
        plain = not (kwargs.get("params") or kwargs.get("files"))
        if not plain or not isinstance(kwargs.get("content"), bytes):
            return super().build_request(method, url, **kwargs)
        if url not in self._urls:
            self._urls[url] = httpx2.URL(url)
        return httpx2.Request(
            method, self._urls[url], headers=kwargs["headers"], content=kwargs["content"]
        )

    async def send(self, request: httpx2.Request, **_: Any) -> httpx2.Response:
        """Send without cookies, redirects, authentication flows and hooks: we have none."""
        if not hasattr(request, "_content"):
            await request.aread()
        return await self._lean.handle_async_request(request)
