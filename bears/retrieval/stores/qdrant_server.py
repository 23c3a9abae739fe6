"""A Qdrant server or cluster: asked again while it is away, and its errors in plain words."""

import logging
from collections.abc import Callable
from typing import TypeVar

from bears.config import checkout
from bears.errors import ConfigurationError, StoreError
from bears.llm.endpoint import check_variable, environment

T = TypeVar("T")


def api_key(name: str) -> str | None:
    """What the environment variable ``name``, or ``.env`` of the user's checkout, holds.

    Raises:
        ConfigurationError: it holds nothing, or ``name`` cannot be a variable.
    """
    if not name:
        return None
    check_variable(name, "vector_store.api_key_env")
    if key := environment(checkout()).get(name, "").strip():
        return key
    raise ConfigurationError(
        f"the environment variable {name} holds no key for Qdrant. Set it, or write {name}=… into "
        ".env; for a server that wants none: vector_store.api_key_env=''"
    )


class Server:
    """A connection. Nothing is asked before the first call.

    Args:
        url: of one node; a cluster answers through each of them.
        key_env: the environment variable of the key; empty: none is sent.
        timeout_s: for one request.
        patience_s: how long a server that does not answer is asked again.
    """

    def __init__(self, url: str, key_env: str, timeout_s: int, patience_s: float) -> None:
        from qdrant_client import QdrantClient

        self.url, self._key_env, self._patience_s = url, key_env, patience_s
        # It would note every request, wherever a package has set up logging.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        key = api_key(key_env)
        try:
            # The versions are not compared: only calls that 1.16 knows are made.
            self.client = QdrantClient(
                url=url, api_key=key, timeout=timeout_s, check_compatibility=False
            )
        except ValueError as error:
            raise ConfigurationError(
                f"vector_store.url is {url!r} ({error}); expected an address such as "
                "http://localhost:6333"
            ) from None

    def ask(self, call: Callable[[], T], patient: bool = True) -> T:
        """What ``call`` returns, asking again while the server is away or overloaded.

        Raises:
            StoreError: it stays away, or refuses.
        """
        from qdrant_client.common.client_exceptions import QdrantException
        from qdrant_client.http.exceptions import ApiException
        from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential

        again = Retrying(
            retry=retry_if_exception(_passes),
            stop=stop_after_delay(self._patience_s if patient else 0),
            wait=wait_exponential(multiplier=0.1, max=3),
            reraise=True,
        )
        try:
            return again(call)
        except (ApiException, QdrantException) as error:
            raise StoreError(self._explained(error)) from None

    def _explained(self, error: Exception) -> str:
        status = getattr(error, "status_code", None)
        said = " ".join(str(getattr(error, "source", error)).split())
        where = f"vector_store.url is {self.url}"
        if status in (401, 403):
            sent = f"the key in {self._key_env}" if self._key_env else "no key"
            return (
                f"{where}; Qdrant there refuses {sent} ({said}). Name the environment variable of "
                "a right one in vector_store.api_key_env"
            )
        if "o space left" in said or "disk space" in said:
            return (
                f"{where}; its disk is full ({said}). Free space there, then run the same again: "
                "the shards that it holds are not sent twice"
            )
        if status is not None and status >= 500:
            return (
                f"{where}; Qdrant there cannot do it ({said}). Where a node of its cluster is "
                "lost, start that again, then run the same again: the shards that it holds are "
                "not sent twice. With vector_store.replicas above 1 a lost node does no harm"
            )
        if status is None:
            return (
                f"{where}; no Qdrant answers there ({said}). Start it, or correct the address, "
                "then run the same again: the shards that it holds are not sent twice"
            )
        return f"{where}; Qdrant 1.16 or later was expected there, it answered: {said}"


def _passes(error: BaseException) -> bool:
    """Whether the same call may succeed later."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    if isinstance(error, UnexpectedResponse):
        return error.status_code is None or error.status_code >= 500
    return isinstance(error, ResponseHandlingException | ResourceExhaustedResponse)
