"""The settings of a hosted model of embeddings, and what follows from them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import ConfigDict

from bears.client.embedding_wire import EmbeddingRequest, token_range
from bears.client.endpoint import Endpoint
from bears.client.models import Price, ceiling
from bears.configuration import STRICT
from bears.errors import ConfigurationError

WHERE = "retriever.encoder"


@dataclass(frozen=True)
class Settings:
    """See conf/retriever/text-embedding-3-small.yaml for what each field means."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    model: str
    dimensions: int
    memory: str = ".bears/embeddings"
    fill: Literal["never", "auto"] = "never"
    base_url: str = ""
    api_key_env: str = "OPENAI_API_KEY"
    concurrency: int = 8
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 6
    backoff_s: float = 1.0
    timeout_s: float = 120.0
    budget: float | None = None
    price: Price | None = None
    batch_texts: int = 256
    batch_tokens: int = 300_000
    text_tokens: int = 8191
    too_long: Literal["cut", "refuse"] = "refuse"

    def __post_init__(self) -> None:
        positive = ("dimensions", "batch_texts", "batch_tokens", "text_tokens")
        for name in positive:
            if getattr(self, name) < 1:
                raise ConfigurationError(
                    f"{WHERE}.{name} is {getattr(self, name)}; expected at least 1"
                )

    @property
    def endpoint(self) -> Endpoint:
        """Where to ask. Raises ConfigurationError where a number cannot be."""
        return Endpoint.of(self, WHERE)

    def sent(self, text: str) -> str:
        """What is sent for a text: all of it, or its beginning where that is allowed.

        Raises:
            ConfigurationError: it may be longer than the model reads, and must not be cut.
        """
        if ceiling(text) <= self.text_tokens or token_range(text)[1] <= self.text_tokens:
            return text
        if self.too_long == "refuse":
            raise ConfigurationError(
                f"a text of {len(text):,} characters may have {token_range(text)[1]:,} tokens, "
                f"and {self.model} reads {self.text_tokens:,}: {text!r:.60}. Cut the documents "
                "into pieces (chunking=tokens), or allow that only the beginning of such a text "
                f"counts: {WHERE}.too_long=cut"
            )
        longest = range(len(text) + 1)
        fitting = bisect_right(longest, self.text_tokens, key=lambda n: token_range(text[:n])[1])
        return text[: fitting - 1]

    def requests(self, texts: Iterable[str]) -> Iterator[EmbeddingRequest]:
        """The texts in requests that the provider takes, whatever their tokens turn out to be."""
        batch: list[str] = []
        size = 0
        for text in texts:
            more = ceiling(text)
            if batch and (len(batch) >= self.batch_texts or size + more > self.batch_tokens):
                yield EmbeddingRequest(tuple(batch), self.dimensions)
                batch, size = [], 0
            batch.append(text)
            size += more
        if batch:
            yield EmbeddingRequest(tuple(batch), self.dimensions)
