"""Plan, fill and publish the kept replies of one use: what the command line calls."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

from bears.config import checkout
from bears.files.journal import Journal, JournalRow
from bears.files.lock import locked_folder
from bears.files.shown import complain
from bears.layout import JOURNAL
from bears.llm.fill import Filling, FillReport, Tries
from bears.llm.limits import Budget
from bears.llm.models import Models, Price, estimate, has_key, models_of
from bears.llm.use import KeptReplies, KeptReply, Needs, Use, extend, is_whole, load

U = TypeVar("U", bound=Use[Any])


@dataclass(frozen=True)
class FillPlan:
    """An estimate; ranges are (lowest, highest).

    Args:
        calls: by field. An answer that is refused is requested again, which is not counted.
        kept: how many replies are kept already.
        input_tokens, output_tokens: of all calls.
        usd: the price of all calls.
    """

    calls: dict[str, int]
    kept: int
    input_tokens: tuple[int, int]
    output_tokens: tuple[int, int]
    usd: tuple[float, float]


@dataclass(frozen=True)
class Workflow(Generic[U]):
    """One use, its kept replies, and the journal that all uses share.

    Args:
        use: what the model is asked.
        replies: the published file.
        root: the user's checkout, which holds ``.env``, the journal and conf/models.yaml.
    """

    use: U
    replies: Path
    root: Path = field(default_factory=checkout)

    @property
    def journal(self) -> Journal:
        """Return the journal of all paid replies."""
        return Journal(self.root / JOURNAL)

    def rows(self) -> Iterator[JournalRow]:
        """Yield the journal's rows of this use, except those that UTF-8 cannot hold."""
        name = self.use.name
        rows = (row for row in self.journal.rows() if name in row)
        return (row for row in rows if is_whole(row["text"], row[name], *row["reasons"]))

    def known(self) -> KeptReplies:
        """Read the published replies, and those of the journal that are not published yet."""
        name, known = self.use.name, KeptReplies()
        for row in self.rows():
            if row["kind"] == name:
                known.add(KeptReply(row["key"], "", row["field"], row["text"], row[name]))
        known.add(*load(self.replies, name))
        return known

    @cached_property
    def models(self) -> Models:
        return models_of(self.root)

    @property
    def price(self) -> Price:
        """Return the price of tokens. Raises ConfigurationError if it is unknown."""
        return self.use.settings.price_in(self.models)

    def resolve(self) -> Needs[Any]:
        """Return what the use needs, with the published replies and those in the journal."""
        return self.use.resolve(self.known())

    def plan(self) -> FillPlan:
        """Estimate the cost of a fill."""
        needs, price = self.resolve(), self.price
        # Requests with the same key are sent once.
        missing = {self.use.key(each): each for each in needs.missing}
        wanted = [*missing.values(), *needs.waiting]
        asked = [self.use.ask(request, []) for request in wanted]
        inputs = [estimate(chat.system + chat.user) for chat in asked]
        outputs = [self.use.output_tokens(request) for request in wanted]
        low = (sum(n for n, _ in inputs), round(sum(n for n, _ in outputs)))
        high = (sum(n for _, n in inputs), round(sum(n for _, n in outputs)))
        return FillPlan(
            calls=dict(sorted(Counter[str](request.field for request in wanted).items())),
            kept=len(needs.used),
            input_tokens=(low[0], high[0]),
            output_tokens=(low[1], high[1]),
            usd=(price.of(*low), price.of(*high)),
        )

    def fill(self, progress: Callable[[int, int, float], None] | None = None) -> FillReport:
        """Send a request for everything that is missing.

        Args:
            progress: called with (requests finished, requests known, dollars spent).

        Raises:
            ConfigurationError: there is no model, no price or no API key.
        """
        settings = self.use.settings
        budget = Budget(settings.budget, settings.where)
        # Replies that are known need no client, which takes a second to import.
        from bears.llm.client import Online

        online = Online(settings, self.models, budget, self.root)
        journal = self.journal
        with journal.exclusive(), journal.writer() as append:
            filling = Filling(
                self.use,
                self.known(),
                Tries(self.use.name, self.rows()),
                append,
                lambda done, total: progress and progress(done, total, budget.spent),
            )
            report = asyncio.run(filling.run(online))
        report.usd = budget.spent
        return report

    def publish(self, give_up: bool = False) -> tuple[int, int, int]:
        """Write the replies that the use needs into the published file.

        Args:
            give_up: publish also what `given_up` yields.

        Returns:
            The number of replies in the file, how many are new, and how many are still missing.
        """
        known = self.known()
        known.add(*self.given_up() if give_up else ())
        needs = self.use.resolve(known)
        missing = len(needs.missing) + len(needs.waiting)
        return *extend(self.replies, self.use.name, needs.used.values()), missing

    def cost(self, keys: Collection[str]) -> tuple[int, int]:
        """Return the input and the output tokens that replies with these keys took."""
        rows = [row for row in self.rows() if row["key"] in keys and "model" in row]
        return sum(row["input_tokens"] for row in rows), sum(row["output_tokens"] for row in rows)

    def discard(self, keys: Collection[str]) -> None:
        """Remove the replies with these keys from the published file and from the journal."""
        name = self.use.name
        with self.journal.exclusive(), locked_folder(self.replies):
            kept = KeptReplies(each for each in load(self.replies, name) if each.key not in keys)
            self.journal.drop(lambda row: name in row and row["key"] in keys)
            kept.save(self.replies, name)

    def given_up(self) -> Iterator[KeptReply]:
        """Yield what may be published for requests that are given up, if the use allows it.

        Only the server's codes make a request one of these, or replies that cannot be used. After a
        lost connection it may be answered another time.
        """
        give_up = self.use.settings.given_up
        # Most uses publish nothing for a failure, so there is no need to look for failures.
        for row in self.failures() if give_up([""]) else ():
            if row.get("final") or "model" in row:
                text = give_up(row["reasons"])
                yield KeptReply(row["key"], "", row["field"], row["text"], text)

    def failures(self) -> Iterator[JournalRow]:
        """Return the journal's last failure of each request that is missing."""
        missing = {self.use.key(request) for request in self.resolve().missing}
        last = {row["key"]: row for row in self.rows() if row["kind"] == "failure"}
        return (row for key, row in last.items() if key in missing)

    def replay(self) -> KeptReplies:
        """Return the published replies. Fill and publish first if the settings allow it.

        Replies found only in the journal, for example after a crash, count as missing.
        """
        settings = self.use.settings
        may_fill = settings.fill == "auto" and bool(settings.model) and has_key(settings, self.root)
        if may_fill and self.use.resolve(load(self.replies, self.use.name)).missing:
            report = self.fill()
            self.publish()
            report.show(self.use.hint)
            if report.stopped:
                complain(f"fill stopped: {report.stopped}")
        return load(self.replies, self.use.name)
