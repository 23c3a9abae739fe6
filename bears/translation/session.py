"""Filling, publishing and reviewing one benchmark's memory: what the command line calls."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from bears.client.batch import Batch
from bears.client.budget import Budget
from bears.client.chat import Online
from bears.client.endpoint import has_key
from bears.client.models import Models, Price, estimate, load_models
from bears.client.wire import ChatRequest
from bears.formats.journal import Journal
from bears.language.gates import GateSeverity
from bears.translation.engine import Append, Backend, Report, Talk, fill
from bears.translation.judge import Judge
from bears.translation.memory import Request, load
from bears.translation.plan import Plan, plan
from bears.translation.project import Project
from bears.translation.prompts import TERMS_SCHEMA, TRANSLATION_SCHEMA, messages
from bears.translation.settings import fragments
from bears.translation.work import Resolution

MOST_OUTPUT_TOKENS = 16384
TERMS_TOKENS = 4096


@dataclass(frozen=True)
class Session:
    """One benchmark, its memory, and the journal of what was paid for.

    Args:
        project: what is to be translated.
        memory: the published memory.
        root: the user's checkout: it holds ``.env``, the journal and conf/models.yaml.
        severities: gate to severity.
    """

    project: Project
    memory: Path
    root: Path
    severities: Mapping[str, GateSeverity]

    @property
    def journal(self) -> Journal:
        return Journal(self.root / ".bears" / "journal.jsonl")

    def damaged(self) -> list[tuple[int, str]]:
        """The journal's lines that cannot be read: number and reason. They are not trusted."""
        journal = self.journal
        deque(journal.rows(), maxlen=0)
        return journal.damaged

    @cached_property
    def models(self) -> Models:
        return load_models(self.root / "conf" / "models.yaml")

    @property
    def price(self) -> Price:
        """What tokens cost. Raises ConfigurationError for a model without a known price."""
        settings = self.project.settings
        price = settings.endpoint.price_in(self.models)
        return price.in_batches() if settings.backend == "batch" else price

    def resolve(self) -> Resolution:
        """The benchmark against the memory and the journal."""
        return self.project.resolve(self.project.known(self.memory, self.journal).lookup)

    def plan(self) -> Plan:
        """What filling would cost."""
        return plan(self.resolve(), self.ask, self.price)

    def ask(self, request: Request, reasons: list[str]) -> ChatRequest:
        """What is sent for a request."""
        settings, language = self.project.settings, self.project.language
        assert settings.prompt is not None
        system, user = messages(request, settings.prompt, fragments(language), reasons)
        schema = TERMS_SCHEMA if request.field == "terms" else TRANSLATION_SCHEMA
        longest = 256 + 3 * estimate(request.text)[1]
        most = TERMS_TOKENS if request.field == "terms" else MOST_OUTPUT_TOKENS
        return ChatRequest(
            key=self.project.translator.key(request),
            system=system,
            user=user,
            schema=schema if settings.structured else None,
            max_output_tokens=min(longest, most),
            parameters=settings.request,
        )

    def fill(
        self,
        progress: Callable[[int, int, float], None] | None = None,
        waiting: Callable[[int | None], None] | None = None,
    ) -> Report:
        """Ask for everything that is missing.

        Args:
            progress: told (requests finished, requests known of, dollars spent).
            waiting: told the process that fills the same journal, before waiting for it.

        Raises:
            ConfigurationError: the translator has no model, no price or no key.
        """
        budget = Budget(self.project.settings.budget, self.price)
        backend = self._backend(budget)
        with self.journal.exclusive(waiting), self.journal.writer() as append:
            known = self.project.known(self.memory, self.journal)
            judge = Judge(self.project.language, self.severities)
            talk = Talk(self.ask, judge, self.project.settings.asks)
            return asyncio.run(
                fill(
                    self.project.resolve,
                    known,
                    backend,
                    talk,
                    self.project.translator,
                    _at_once(append) if self.project.settings.backend == "batch" else append,
                    lambda done, total: progress and progress(done, total, budget.spent),
                )
            )

    def publish(self) -> tuple[int, int, int]:
        """Write what the benchmark uses into the published memory.

        Returns:
            Entries in the memory, how many of them are new, and texts still missing.
        """
        resolution = self.resolve()
        before = load(self.memory)
        after = before.merged(resolution.used.values())
        after.save(self.memory)
        missing = len(resolution.missing) + len(resolution.waiting)
        return len(after), len(after) - len(before), missing

    def failures(self) -> Iterator[dict[str, Any]]:
        """What the journal says of texts that are missing: the last refused translation of each."""
        missing = {self.project.translator.key(r) for r in self.resolve().missing}
        last = {row["key"]: row for row in self.journal.rows() if row.get("kind") == "failure"}
        return (row for key, row in last.items() if key in missing)

    def can_fill(self) -> bool:
        """Whether a stage may fill by itself: it is asked to, and the key is there."""
        settings = self.project.settings
        if settings.fill != "auto" or not settings.model:
            return False
        return has_key(settings.endpoint, self.root)

    def _backend(self, budget: Budget) -> Backend:
        settings = self.project.settings
        if settings.backend == "batch":
            state = self.root / ".bears" / "batches.jsonl"
            return Batch(settings.endpoint, self.models, state, budget, self.root)
        return Online(settings.endpoint, self.models, budget, self.root)


def _at_once(append: Append) -> Append:
    """Wait for the disk at each row: a batch is closed, and never read again, after its last."""

    def append_and_wait(row: Mapping[str, Any]) -> Future[None]:
        written = append(row)
        written.result()
        return written

    return append_and_wait
