"""The settings of a hosted embedding model, and how they shape requests."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from bears.config.code import parts_of
from bears.errors import ConfigurationError
from bears.layout import EMBEDDINGS
from bears.llm.models import Endpoint, ceiling
from bears.llm.wire import EmbeddingRequest, token_range
from bears.types import Positive

WHERE = "retriever.encoder"
TARGET = "bears.retrieval.models.hosted.Hosted"


@dataclass(frozen=True, kw_only=True)
class HostedSettings(Endpoint):
    """See conf/retriever/text-embedding-3-small.yaml for the meaning of each field."""

    where: ClassVar[str] = WHERE

    dimensions: Positive
    folder: str = str(EMBEDDINGS)
    concurrency: Positive = 8
    batch_texts: Positive = 256
    batch_tokens: Positive = 300_000
    text_tokens: Positive = 8191
    too_long: Literal["cut", "refuse"] = "refuse"

    def sent(self, text: str) -> str:
        """Return the part of a text to send: all of it, or its beginning if that is allowed.

        Raises:
            ConfigurationError: it may be longer than the model reads and must not be cut.
        """
        if ceiling(text) <= self.text_tokens or token_range(text)[1] <= self.text_tokens:
            return text
        if self.too_long == "refuse":
            raise ConfigurationError(
                f"a text of {len(text):,} characters may have {token_range(text)[1]:,} tokens, "
                f"and {self.model} reads {self.text_tokens:,}: {text!r:.60}. Cut the documents "
                "into chunks (chunking=tokens), or use only the beginning of such texts: "
                f"{WHERE}.too_long=cut"
            )
        longest = range(len(text) + 1)
        fitting = bisect_right(longest, self.text_tokens, key=lambda n: token_range(text[:n])[1])
        return text[: fitting - 1]

    def requests(self, texts: Iterable[str]) -> Iterator[EmbeddingRequest]:
        """Yield requests small enough for the provider, however many tokens it counts."""
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


def hosted(value: object) -> list[dict[str, Any]]:
    """Return the hosted encoders within a retriever's settings, at any depth."""
    found = (each for each in parts_of(value) if isinstance(each, dict))
    return [each for each in found if each.get("_target_") == TARGET]
