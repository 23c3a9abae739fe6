"""Embeddings of a provider: each text is paid for once, and kept in the user's checkout.

The pipeline spends nothing unless it is told to. Where vectors are missing it stops and says what
they cost; ``python -m bears embeddings plan`` says so for the whole benchmark, ``embeddings fill``
buys them, and with ``retriever.encoder.fill=auto`` the stages do, as soon as the key is there:
``dvc exp run -S retriever=text-embedding-3-small -S 'overrides=["retriever.encoder.fill=auto"]'``.

The vector of a question that is kept costs no request: the time to encode that a run reports is
the model's only for questions that were not asked before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from bears.client.budget import Budget
from bears.client.embedding_wire import Embedded, EmbeddingRequest, token_range
from bears.client.endpoint import has_key
from bears.client.limits import Limits
from bears.client.models import Models, Price, load_models
from bears.configuration import checkout, parse
from bears.errors import RetrieverUnavailable
from bears.formats.journal import tell_waiting
from bears.retrieval.encoder import Vectors, normalised
from bears.retrieval.encoders.hosted_settings import WHERE, Settings
from bears.retrieval.vector_journal import VectorJournal

if TYPE_CHECKING:
    from bears.client.embeddings import Answer, Embeddings

Kind = Literal["document", "question"]
Progress = Callable[[int, float], None]
Take = Callable[[EmbeddingRequest, Vectors], "list[Future[None]]"]


@dataclass(frozen=True)
class Cost:
    """What it takes to have the vectors of some texts; ranges are (least, most).

    Args:
        texts: different ones, the empty ones left out.
        missing: those that are not kept yet.
        tokens: of the missing ones, estimated.
        usd: their price.
    """

    texts: int = 0
    missing: int = 0
    tokens: tuple[int, int] = (0, 0)
    usd: tuple[float, float] = (0.0, 0.0)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.texts + other.texts,
            self.missing + other.missing,
            (self.tokens[0] + other.tokens[0], self.tokens[1] + other.tokens[1]),
            (self.usd[0] + other.usd[0], self.usd[1] + other.usd[1]),
        )

    def __str__(self) -> str:
        tokens, usd = "{:,} to {:,} tokens", "US$ {:.4f} to {:.4f}"
        return f"{tokens.format(*self.tokens)}, {usd.format(*self.usd)}"


class Hosted:
    """A model of embeddings behind an OpenAI-compatible address.

    Its memory is a folder of journals in the user's checkout, outside of DVC and git: see
    `bears.retrieval.vector_journal`. Several processes may use it at the same time; the budget
    is each one's own, so fill before a run with many workers.

    Args:
        settings: the fields of `bears.retrieval.encoders.hosted_settings.Settings`.

    Raises:
        ConfigurationError: a setting is unknown, or no value of its type.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = parse(Settings, settings, WHERE)
        self.folder = checkout() / self.settings.memory
        self.spent = 0.0
        self._limits = Limits(self.settings.requests_per_minute, self.settings.tokens_per_minute)
        model, dimensions = self.settings.model, self.settings.dimensions
        self._journals = {
            kind: VectorJournal(self.folder, model, dimensions, kind) for kind in get_args(Kind)
        }

    @property
    def identity(self) -> dict[str, Any]:
        """The model, the dimensions, and which part of a long text counts."""
        names = ("model", "dimensions", "text_tokens", "too_long")
        return {name: getattr(self.settings, name) for name in names}

    @property
    def price(self) -> Price:
        """What tokens cost. Raises ConfigurationError for a model without a known price."""
        return self.settings.endpoint.price_in(self._models)

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions); of nothing, zeros.

        Raises:
            RetrieverUnavailable: vectors are missing, and may not or cannot be bought.
            ConfigurationError: there is no price, or a text is too long.
        """
        return self._vectors("document", texts)

    def questions(self, texts: Sequence[str]) -> Vectors:
        """As `documents`; kept apart from them."""
        return self._vectors("question", texts)

    def load(self) -> None:
        """Read which questions are kept, so that the first one does not wait for it."""
        self._journals["question"].refresh()

    def cost(self, kind: Kind, texts: Iterable[str]) -> Cost:
        """What `fill` would cost."""
        keys = self._keys(kind, texts)
        missing = self._missing(kind, keys)
        ranges = [token_range(text) for text in missing]
        least, most = (sum(counts) for counts in zip((0, 0), *ranges, strict=True))
        price = self.price
        return Cost(len(keys), len(missing), (least, most), (price.of(least, 0), price.of(most, 0)))

    def fill(self, kind: Kind, texts: Iterable[str], progress: Progress | None = None) -> None:
        """Buy the vectors that are missing; each is kept as it comes.

        Args:
            progress: told (texts that came just now, dollars spent by this encoder so far).

        Raises:
            RetrieverUnavailable: some are missing still; the message says why.
            ConfigurationError: there is no price or no key, or a text is too long.
            OSError: what comes cannot be kept; no more is bought.
        """
        keys = self._keys(kind, texts)
        budget = Budget(self.settings.budget, self.price, WHERE)
        budget.spent = self.spent
        client = self._client()
        problem = ""
        with self._journals[kind].filling(tell_waiting) as keep:
            missing = self._missing(kind, keys)

            def take(request: EmbeddingRequest, vectors: Vectors) -> list[Future[None]]:
                if progress is not None:
                    progress(len(request.texts), budget.spent)
                pairs = zip(request.texts, vectors, strict=True)
                return [keep(missing[text], vector) for text, vector in pairs]

            requests = self.settings.requests(missing)
            try:
                problem = asyncio.run(_ask(client.answers(requests, budget), take))
            finally:
                self.spent = budget.spent
        if left := len(self._missing(kind, keys)):
            raise RetrieverUnavailable(
                f"{left:,} of {len(keys):,} {kind}s have no vector yet. {problem}. What came is "
                f"kept in {self.folder} and is not paid for again"
            )

    @cached_property
    def _models(self) -> Models:
        return load_models(checkout() / "conf" / "models.yaml")

    def _client(self) -> Embeddings:
        from bears.client.embeddings import Embeddings

        # Not kept: it holds the key, and an encoder may be sent to other processes.
        return Embeddings(self.settings.endpoint, self._models, self._limits, checkout())

    def _keys(self, kind: Kind, texts: Iterable[str]) -> dict[str, str]:
        """What is sent, to its key; a text of nothing is not sent, since providers refuse it."""
        sent = (self.settings.sent(text) for text in texts if text.strip())
        return {text: self._journals[kind].key(text) for text in sent}

    def _missing(self, kind: Kind, keys: Mapping[str, str]) -> dict[str, str]:
        """Those of ``keys`` whose vectors are not kept, by this process or another."""
        journal = self._journals[kind]
        if any(key not in journal for key in keys.values()):
            journal.refresh()
        return {text: key for text, key in keys.items() if key not in journal}

    def _vectors(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        keys = self._keys(kind, texts)
        if self._missing(kind, keys):
            self._check_may_fill(kind, keys)
            self.fill(kind, keys)
        rows = [number for number, text in enumerate(texts) if text.strip()]
        found = np.zeros((len(texts), self.settings.dimensions), np.float32)
        wanted = [keys[self.settings.sent(texts[row])] for row in rows]
        found[rows] = self._journals[kind].vectors(wanted)
        return normalised(found)

    def _check_may_fill(self, kind: Kind, keys: Mapping[str, str]) -> None:
        has = has_key(self.settings.endpoint, checkout())
        if self.settings.fill == "auto" and has:
            return
        cost = self.cost(kind, keys)
        lacking = "" if has else f" The variable {self.settings.api_key_env} holds no key yet."
        raise RetrieverUnavailable(
            f"{cost.missing:,} of {cost.texts:,} {kind}s have no vector of {self.settings.model} "
            f"in {self.folder}: {cost}.{lacking} See what the whole benchmark costs, and buy it: "
            "python -m bears embeddings plan, then python -m bears embeddings fill. Or let the "
            "pipeline buy what it needs: -S 'overrides=[\"retriever.encoder.fill=auto\"]'"
        )


async def _ask(answers: AsyncIterator[Answer], take: Take) -> str:
    """Hand the vectors over as they come; returns the first problem."""
    problem = ""
    async for request, outcome in answers:
        if isinstance(outcome, Embedded):
            # What cannot be kept must not be bought on: so this waits for the disk.
            await asyncio.gather(*map(asyncio.wrap_future, take(request, outcome.vectors)))
        else:
            problem = problem or str(outcome)
    return problem
