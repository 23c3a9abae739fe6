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
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from bears.config import checkout, parse
from bears.config.packaged import conf_folder
from bears.errors import RetrieverUnavailable
from bears.llm.budget import Budget
from bears.llm.embedding import Embedded, EmbeddingRequest, token_range
from bears.llm.endpoint import has_key
from bears.llm.faults import RunStopped
from bears.llm.models import Models, Price, load_models
from bears.llm.rate_limits import RateLimits
from bears.retrieval.models.encoder import Kind, Vectors, normalised
from bears.retrieval.models.hosted_settings import WHERE, HostedSettings
from bears.retrieval.models.vector_journal import VectorJournal

if TYPE_CHECKING:
    from bears.llm.client import Embeddings
    from bears.llm.faults import ClientError

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
    `bears.retrieval.models.vector_journal`. Several processes may use it at the same time; the
    budget is each one's own, so fill before a run with many workers.

    Args:
        settings: the fields of `bears.retrieval.models.hosted_settings.HostedSettings`.

    Raises:
        ConfigurationError: a setting is unknown, or no value of its type.
    """

    def __init__(self, **settings: Any) -> None:
        self.settings = parse(HostedSettings, settings, WHERE)
        self.folder = checkout() / self.settings.memory
        self.spent = 0.0
        self._limits = RateLimits(
            self.settings.requests_per_minute, self.settings.tokens_per_minute
        )
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
        return self.settings.price_in(self._models)

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

    def unread(self, kind: Kind, texts: Sequence[str]) -> tuple[int, list[int]]:  # noqa: ARG002
        """Return how many tokens of a text are sent, and the characters of each that are not."""
        unread = [len(text) - len(self.settings.sent(text)) for text in texts]
        return self.settings.text_tokens, unread

    def load(self) -> None:
        """Read which questions are kept, so that the first one does not wait for it."""
        self._journals["question"].refresh()

    def cost(self, kind: Kind, texts: Iterable[str]) -> Cost:
        """What `fill` would cost."""
        sent = self._sent(texts)
        missing = self._journals[kind].missing(sent)
        ranges = [token_range(text) for text in missing]
        least, most = (sum(counts) for counts in zip((0, 0), *ranges, strict=True))
        price = self.price
        return Cost(len(sent), len(missing), (least, most), (price.of(least, 0), price.of(most, 0)))

    def fill(self, kind: Kind, texts: Iterable[str], progress: Progress | None = None) -> None:
        """Buy the vectors that are missing; each is kept as it comes.

        Args:
            progress: told (texts that came just now, dollars spent by this encoder so far).

        Raises:
            RetrieverUnavailable: some are missing still; the message says why.
            ConfigurationError: there is no price or no key, or a text is too long.
            OSError: what comes cannot be kept; no more is bought.
        """
        sent, journal = self._sent(texts), self._journals[kind]
        budget = Budget(self.settings.budget, self.price, WHERE)
        budget.spent = self.spent
        client = self._client(budget)
        with journal.filling() as keep:

            def take(request: EmbeddingRequest, vectors: Vectors) -> list[Future[None]]:
                if progress is not None:
                    progress(len(request.texts), budget.spent)
                return list(map(keep, request.texts, vectors))

            requests = self.settings.requests(journal.missing(sent))
            try:
                problem = asyncio.run(_ask(client.answers(requests), take))
            finally:
                self.spent = budget.spent
        if left := len(journal.missing(sent)):
            raise RetrieverUnavailable(
                f"{left:,} of {len(sent):,} {kind}s have no vector yet. {problem}. What came is "
                f"kept in {self.folder} and is not paid for again"
            )

    @cached_property
    def _models(self) -> Models:
        own = checkout() / "conf" / "models.yaml"
        return load_models(own if own.exists() else conf_folder()[0] / own.name)

    def _client(self, budget: Budget) -> Embeddings:
        from bears.llm.client import Embeddings

        # Not kept: it holds the key, and an encoder may be sent to other processes.
        return Embeddings(self.settings, self._models, budget, checkout(), self._limits)

    def _sent(self, texts: Iterable[str]) -> list[str]:
        """What is sent, once each; a text of nothing is not, since providers refuse it."""
        return list(dict.fromkeys(self.settings.sent(text) for text in texts if text.strip()))

    def _vectors(self, kind: Kind, texts: Sequence[str]) -> Vectors:
        journal = self._journals[kind]
        sent = {row: self.settings.sent(text) for row, text in enumerate(texts) if text.strip()}
        if journal.missing(sent.values()):
            self._check_may_fill(kind, texts)
            self.fill(kind, texts)
        found = np.zeros((len(texts), self.settings.dimensions), np.float32)
        if sent:
            found[list(sent)] = journal.vectors(sent.values())
        return normalised(found)

    def _check_may_fill(self, kind: Kind, texts: Iterable[str]) -> None:
        has = has_key(self.settings, checkout())
        if self.settings.fill == "auto" and has:
            return
        cost = self.cost(kind, texts)
        lacking = "" if has else f" The variable {self.settings.api_key_env} holds no key yet."
        raise RetrieverUnavailable(
            f"{cost.missing:,} of {cost.texts:,} {kind}s have no vector of {self.settings.model} "
            f"in {self.folder}: {cost}.{lacking} See what the whole benchmark costs, and buy it: "
            "python -m bears embeddings plan, then python -m bears embeddings fill. Or let the "
            "pipeline buy what it needs: -S 'overrides=[\"retriever.encoder.fill=auto\"]'"
        )


async def _ask(
    answers: AsyncIterator[tuple[EmbeddingRequest, Embedded | ClientError]], take: Take
) -> str:
    """Hand the vectors over as they come; returns the first problem."""
    problem = ""
    try:
        async for request, outcome in answers:
            if isinstance(outcome, Embedded):
                # What cannot be kept must not be bought on: so this waits for the disk.
                await asyncio.gather(*map(asyncio.wrap_future, take(request, outcome.vectors)))
            else:
                problem = problem or str(outcome)
    except RunStopped as stopped:
        return str(stopped)
    return problem
