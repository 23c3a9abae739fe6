"""Planning, filling and publishing the memory of one use: what the command line calls."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from bears.config import checkout
from bears.files.shown import complain
from bears.llm.batch import BatchApi
from bears.llm.budget import Budget
from bears.llm.client import Online
from bears.llm.endpoint import has_key
from bears.llm.fill import Filling, FillReport, Tries
from bears.llm.kept import Kept, MemoryEntry, PublishedMemory, extend, load
from bears.llm.models import Models, Price, estimate, load_models
from bears.llm.use import Needs, Use

U = TypeVar("U", bound=Use[Any])


@dataclass(frozen=True)
class FillPlan:
    """An estimate; ranges are (lowest, highest).

    Args:
        calls: by field; what is refused is asked for again and is not counted.
        in_memory: answers that are there already.
        input_tokens, output_tokens: over all calls.
        usd: price of all calls.
    """

    calls: dict[str, int]
    in_memory: int
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    usd: tuple[float, float]


@dataclass(frozen=True)
class Workflow(Generic[U]):
    """One use, its memory, and the journal of what was paid for, which all uses share.

    Args:
        use: what is asked for.
        memory: the published memory.
        root: the user's checkout: it holds ``.env``, the journal and conf/models.yaml.
    """

    use: U
    memory: Path
    root: Path = field(default_factory=checkout)

    @property
    def kept(self) -> Kept:
        """What there is of the use: its memory, and what the journal has besides."""
        return Kept(self.use.name, self.memory, self.root)

    @cached_property
    def models(self) -> Models:
        return load_models(self.root / "conf" / "models.yaml")

    @property
    def price(self) -> Price:
        """What tokens cost. Raises ConfigurationError for a model without a known price."""
        return self.use.settings.price_in(self.models)

    def resolve(self) -> Needs[Any]:
        """What the use needs, against the memory and the journal."""
        return self.use.resolve(self.kept.known())

    def plan(self) -> FillPlan:
        """What filling would cost."""
        needs, price = self.resolve(), self.price
        wanted = [*needs.missing, *needs.waiting]
        asked = [self.use.ask(request, []) for request in wanted]
        inputs = [estimate(chat.system + chat.user) for chat in asked]
        outputs = [self.use.output_tokens(request) for request in wanted]
        low = (sum(n for n, _ in inputs), round(sum(n for n, _ in outputs)))
        high = (sum(n for _, n in inputs), round(sum(n for _, n in outputs)))
        return FillPlan(
            calls=dict(sorted(Counter[str](request.field for request in wanted).items())),
            in_memory=len(needs.used),
            input_tokens=(low[0], high[0]),
            output_tokens=(low[1], high[1]),
            usd=(price.of(*low), price.of(*high)),
        )

    def fill(self, progress: Callable[[int, int, float], None] | None = None) -> FillReport:
        """Ask for everything that is missing.

        Args:
            progress: told (requests finished, requests known of, dollars spent).

        Raises:
            ConfigurationError: there is no model, no price or no key.
        """
        settings = self.use.settings
        budget = Budget(settings.budget, self.price, settings.where)
        state = self.root / ".bears" / "batches.jsonl"
        backend = (
            BatchApi(settings, self.models, state, budget, self.root)
            if settings.backend == "batch"
            else Online(settings, self.models, budget, self.root)
        )
        kept = self.kept
        with kept.journal.exclusive(), kept.journal.writer() as append:
            filling = Filling(
                self.use,
                kept.known(),
                Tries(self.use.name, kept.rows()),
                append,
                lambda done, total: progress and progress(done, total, budget.spent),
            )
            report = asyncio.run(filling.run(backend))
        report.usd = budget.spent
        return report

    def publish(self, give_up: bool = False) -> tuple[int, int, int]:
        """Write what the use needs into its published memory.

        Args:
            give_up: as of `given_up`.

        Returns:
            Entries in the memory, how many of them are new, and answers still missing.
        """
        known = self.kept.known()
        known.add(*self.given_up(give_up))
        needs = self.use.resolve(known)
        missing = len(needs.missing) + len(needs.waiting)
        return *extend(self.memory, self.use.name, needs.used.values()), missing

    def given_up(self, every: bool) -> Iterator[MemoryEntry]:
        """What may be published of the requests that were tried and failed, where a use has that.

        Args:
            every: those too that may be answered another time, as when no server was there.
        """
        give_up = self.use.settings.given_up
        # Failures are not looked for where nothing would be kept of them.
        for row in self.failures() if give_up([""]) else ():
            if every or row.get("final"):
                kept = give_up(row["reasons"])
                yield MemoryEntry(row["key"], "", row["field"], row["text"], kept)

    def failures(self) -> Iterator[dict[str, Any]]:
        """What the journal says of what is missing: the last refused answer to each request."""
        missing = {self.use.key(request) for request in self.resolve().missing}
        last = {row["key"]: row for row in self.kept.rows() if row["kind"] == "failure"}
        return (row for key, row in last.items() if key in missing)

    def replay(self) -> PublishedMemory:
        """Return what is published, after filling where a stage may."""
        self.fill_by_itself()
        return load(self.memory, self.use.name)

    def fill_by_itself(self) -> None:
        """Fill and publish, where a stage may and something is missing; why it stopped is told.

        What only the journal has, as after a kill, is missing as well.
        """
        if self.can_fill() and self.use.resolve(load(self.memory, self.use.name)).missing:
            report = self.fill()
            self.publish()
            report.tell(self.use.name)
            if report.stopped:
                complain(f"fill stopped: {report.stopped}")

    def can_fill(self) -> bool:
        """Whether a stage may fill by itself: it is asked to, and the key is there."""
        settings = self.use.settings
        return settings.fill == "auto" and bool(settings.model) and has_key(settings, self.root)
