"""Embeddings of a provider: each text is paid for once and kept in the user's checkout.

By default the pipeline spends nothing: if vectors are missing, it stops and prints their price.
With ``retriever.encoder.fill=auto`` the stages buy what they need, if the key is set:
``dvc exp run -S retriever=text-embedding-3-small -S 'overrides=["retriever.encoder.fill=auto"]'``.

A kept vector of a question needs no request, so the encoding time that a run reports is the
model's only for new questions.
"""

import asyncio
import hashlib
import json
from base64 import b64decode
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from bears.config import checkout
from bears.config.code import parts_of
from bears.config.typed import parse
from bears.errors import RetrieverUnavailable
from bears.files.journal import Journal, make_folder
from bears.files.lock import locked
from bears.layout import EMBEDDINGS
from bears.llm.faults import ClientError, RunStopped
from bears.llm.limits import Budget, RateLimits
from bears.llm.models import Endpoint, ceiling, has_key, models_of
from bears.llm.wire import Embedded, EmbeddingRequest, token_range
from bears.retrieval.dense.shards import Rows, VectorCache
from bears.retrieval.vectors import Encoded, Kind, Vectors, normalized
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

    def sent(self, text: str) -> str:
        """Return the part of a text to send: all of it, or the beginning that the model reads."""
        if ceiling(text) <= self.text_tokens or token_range(text)[1] <= self.text_tokens:
            return text
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


class Hosted:
    """A model of embeddings behind an OpenAI-compatible address.

    Its vectors are kept in the user's checkout, outside of DVC and git: see
    `bears.retrieval.dense.shards.VectorCache`. They are never removed. Several processes may use
    them at the same time; each has the whole budget, so fill before a run with many workers.

    Args:
        settings: the fields of `HostedSettings`.

    Raises:
        ConfigurationError: a setting is unknown or invalid.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = parse(HostedSettings, settings, WHERE)
        self.folder = checkout() / self.settings.folder
        self.spent = 0.0
        self._limits = RateLimits(
            self.settings.requests_per_minute, self.settings.tokens_per_minute
        )
        made_by = {"model": self.settings.model, "dimensions": self.settings.dimensions}
        self._kept = {
            kind: VectorCache(self.folder, {**made_by, "kind": kind}) for kind in get_args(Kind)
        }

    @property
    def identity(self) -> Mapping[str, object]:
        """Return the model, its dimensions, and how much of a text it reads."""
        names = ("model", "dimensions", "text_tokens")
        return {name: getattr(self.settings, name) for name in names}

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Return vectors of length 1, shape (texts, dimensions); zeros for an empty text.

        Raises:
            RetrieverUnavailable: vectors are missing and may not or cannot be bought.
            ConfigurationError: there is no price.
        """
        return self._vectors("document", texts)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """Return the same as `documents`; the vectors are kept apart."""
        return self._vectors("question", texts)

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:  # noqa: ARG002
        """Return how many tokens of a text are sent, and how many characters of each are not."""
        unread = [len(text) - len(self.settings.sent(text)) for text in texts]
        return self.settings.text_tokens, unread

    def load(self) -> None:
        """Read which questions are kept, so that the first one does not wait for that."""
        self._kept["question"].refresh()

    def _vectors(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        kept = self._kept[kind]
        # Providers refuse empty texts.
        sent = {row: self.settings.sent(text) for row, text in enumerate(texts) if text.strip()}
        wanted = list(dict.fromkeys(sent.values()))
        rows = kept.find(wanted)
        missing = [text for text in wanted if text not in rows]
        if before := self._kept_before(kind, missing):
            vectors = np.stack([*before.values()])
            rows |= kept.keep([*before], Encoded(vectors, 0, [0] * len(before)))
        if missing := [text for text in missing if text not in rows]:
            of = f"of {len(wanted):,} {kind}s have no vector"
            self._check_may_fill(missing, of)
            rows |= self._fill(kept, missing, of)
        vectors = np.zeros((len(texts), self.settings.dimensions), np.float32)
        for row, text in sent.items():
            vectors[row] = rows[text]["vector"]
        return normalized(vectors)

    def _kept_before(self, kind: Kind, texts: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of those texts that earlier versions kept, in a journal."""
        parts = {"model": self.settings.model, "dimensions": self.settings.dimensions, "kind": kind}
        name = f"{self.settings.model.replace('/', '--')}-{self.settings.dimensions}.{kind}.jsonl"
        known = {row["key"]: row["vector"] for row in Journal(self.folder / name).rows()}
        keys = {text: _journal_key({**parts, "text": text}) for text in texts if known}
        return {
            text: np.frombuffer(b64decode(known[key]), "<f4")
            for text, key in keys.items()
            if key in known
        }

    def _check_may_fill(self, missing: Sequence[str], of: str) -> None:
        ready = has_key(self.settings, checkout())
        if self.settings.fill == "auto" and ready:
            return
        price = self.settings.price_in(models_of(checkout()))
        least, most = map(sum, zip(*map(token_range, missing), strict=True))
        lacking = "" if ready else f" The variable {self.settings.api_key_env} holds no key yet."
        raise RetrieverUnavailable(
            f"{len(missing):,} {of} of {self.settings.model} in {self.folder}: {least:,} to "
            f"{most:,} tokens, US$ {price.of(least, 0):.4f} to {price.of(most, 0):.4f}.{lacking} "
            "To let the pipeline buy what it needs, up to a budget in US dollars: "
            '-S \'overrides=["retriever.encoder.fill=auto", "retriever.encoder.budget=5"]\''
        )

    def _fill(self, kept: VectorCache, missing: Sequence[str], of: str) -> Rows:
        """Buy the vectors that are missing and return them; each is kept as it comes.

        Args:
            kept: locked meanwhile, so that no other process buys the same vectors.
            missing: the texts.
            of: of how many texts they are, for the message.

        Raises:
            RetrieverUnavailable: some are still missing; the message says why.
            ConfigurationError: there is no price or no key.
            OSError: a vector cannot be kept; no more are bought.
        """
        from bears.llm.client import Client

        budget, models = Budget(self.settings.budget, WHERE), models_of(checkout())
        budget.spent = self.spent
        # Created each time: it holds the key, and an encoder may be sent to other processes.
        client: Client[EmbeddingRequest, Embedded] = Client(
            self.settings, models, budget, checkout(), self._limits
        )
        make_folder(kept.folder)
        with locked(kept.folder / "lock", str(kept.folder), "fill"), closing(kept):
            rows = kept.find(missing)

            async def take(request: EmbeddingRequest, answer: Embedded) -> None:
                came, wanted = answer.vectors.shape[1], request.dimensions
                if came != wanted:
                    # All others would be wrong too.
                    raise RunStopped(
                        f"{client.access.base_url} answers vectors of {came} dimensions for "
                        f"{self.settings.model}, and {wanted} are configured"
                    )
                # The whole run waits for the disk: if vectors cannot be kept, no more should be
                # bought.
                unread = [0] * len(request.texts)
                rows.update(kept.keep(request.texts, Encoded(answer.vectors, 0, unread)))

            async def first_problem() -> str:
                requests = self.settings.requests(text for text in missing if text not in rows)
                answers = client.answers(requests, take)
                problems = [str(each) async for _, each in answers if isinstance(each, ClientError)]
                return next(iter(problems), "")

            try:
                problem = asyncio.run(first_problem())
            except RunStopped as stopped:
                problem = str(stopped)
            finally:
                self.spent = budget.spent
        if left := len(missing) - len(rows):
            raise RetrieverUnavailable(
                f"{left:,} {of} yet. {problem}. The others are kept in {self.folder} and are not "
                "paid for again"
            )
        return rows


def _journal_key(parts: Mapping[str, Any]) -> str:
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
