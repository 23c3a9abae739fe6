"""Filling, publishing and reviewing one benchmark's memory: what the command line calls."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.client.batch import BatchApi
from bears.client.budget import Budget
from bears.client.chat import Online
from bears.client.endpoint import has_key
from bears.client.models import Models, Price, estimate, load_models
from bears.formats.journal import Journal
from bears.translation.fill import Filling, FillReport
from bears.translation.memory import MemoryEntry, PublishedMemory, extend, load
from bears.translation.source_texts import Resolution
from bears.translation.task import TranslationTask

# A translation has about as many tokens as its source, the least and the most in practice.
SHORTEST, LONGEST = 0.7, 2.0


@dataclass(frozen=True)
class FillPlan:
    """An estimate; ranges are (lowest, highest).

    Args:
        calls: by field; a text that a gate refuses is asked for again and is not counted.
        in_memory: texts that are there already.
        input_tokens, output_tokens: over all calls.
        usd: price of all calls.
    """

    calls: dict[str, int]
    in_memory: int
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    usd: tuple[float, float]


@dataclass(frozen=True)
class TranslationWorkflow:
    """One benchmark, its memory, and the journal of what was paid for.

    Args:
        task: what is to be translated.
        memory: the published memory.
        root: the user's checkout: it holds ``.env``, the journal and conf/models.yaml.
    """

    task: TranslationTask
    memory: Path
    root: Path

    @property
    def journal(self) -> Journal:
        return Journal(self.root / ".bears" / "journal.jsonl")

    @cached_property
    def models(self) -> Models:
        return load_models(self.root / "conf" / "models.yaml")

    @property
    def price(self) -> Price:
        """What tokens cost. Raises ConfigurationError for a model without a known price."""
        return self.task.settings.price_in(self.models)

    def known(self) -> PublishedMemory:
        """The published memory, with the journal's translations where it has none."""
        paid = {
            row["key"]: MemoryEntry(row["key"], "", row["field"], row["text"], row["translation"])
            for row in self.journal.rows()
            if row.get("kind") == "translation"
        }
        return PublishedMemory(paid.values()).merged(load(self.memory))

    def resolve(self) -> Resolution:
        """The benchmark against the memory and the journal."""
        return self.task.resolve(self.known())

    def plan(self) -> FillPlan:
        """What filling would cost."""
        resolution, price = self.resolve(), self.price
        wanted = [*resolution.missing, *resolution.waiting]
        asked = [self.task.ask(request, []) for request in wanted]
        inputs = [estimate(chat.system + chat.user) for chat in asked]
        outputs = [estimate(request.text) for request in wanted]
        low = (sum(n for n, _ in inputs), round(SHORTEST * sum(n for n, _ in outputs)))
        high = (sum(n for _, n in inputs), round(LONGEST * sum(n for _, n in outputs)))
        return FillPlan(
            calls=dict(sorted(Counter[str](request.field for request in wanted).items())),
            in_memory=len(resolution.used),
            input_tokens=(low[0], high[0]),
            output_tokens=(low[1], high[1]),
            usd=(price.of(*low), price.of(*high)),
        )

    def fill(self, progress: Callable[[int, int, float], None] | None = None) -> FillReport:
        """Ask for everything that is missing.

        Args:
            progress: told (requests finished, requests known of, dollars spent).

        Raises:
            ConfigurationError: the translator has no model, no price or no key.
        """
        settings = self.task.settings
        budget = Budget(settings.budget, self.price)
        state = self.root / ".bears" / "batches.jsonl"
        backend = (
            BatchApi(settings, self.models, state, budget, self.root)
            if settings.backend == "batch"
            else Online(settings, self.models, budget, self.root)
        )
        with self.journal.exclusive(), self.journal.writer() as append:
            rows = self.journal.rows()
            filling = Filling(
                self.task,
                self.known(),
                {r["key"]: r["reasons"] for r in rows if r.get("reasons") and "model" in r},
                append,
                lambda done, total: progress and progress(done, total, budget.spent),
            )
            return asyncio.run(filling.run(backend))

    def publish(self) -> tuple[int, int, int]:
        """Write what the benchmark uses into the published memory.

        Returns:
            Entries in the memory, how many of them are new, and texts still missing.
        """
        resolution = self.resolve()
        missing = len(resolution.missing) + len(resolution.waiting)
        return *extend(self.memory, resolution.used.values()), missing

    def failures(self) -> Iterator[dict[str, Any]]:
        """What the journal says of texts that are missing: the last refused translation of each."""
        missing = {self.task.translator.key(r) for r in self.resolve().missing}
        last = {row["key"]: row for row in self.journal.rows() if row.get("kind") == "failure"}
        return (row for key, row in last.items() if key in missing)

    def can_fill(self) -> bool:
        """Whether a stage may fill by itself: it is asked to, and the key is there."""
        settings = self.task.settings
        return settings.fill == "auto" and bool(settings.model) and has_key(settings, self.root)
