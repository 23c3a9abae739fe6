"""Asking a model before a person's eyes: the plan, the consent, the bar, what came of it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tabulate import tabulate

from bears.errors import ConfigurationError, MemoryMiss
from bears.files.progress import Progress, reported
from bears.files.shown import complain
from bears.llm.fill import FillReport
from bears.llm.models import Price
from bears.llm.workflow import FillPlan, Workflow

Show = Callable[[int, int, float], None]
"""Moves the bar: texts that have come so far, those known of, dollars spent so far."""


@contextmanager
def spending(texts: int, agreed: bool) -> Iterator[Show]:
    """Ask a person at a terminal who has not agreed yet, then show a bar.

    Args:
        texts: how many are going to be asked for.
        agreed: whether ``--yes`` was given.

    Raises:
        ConfigurationError: the person does not agree.
        KeyboardInterrupt: as it came, after what was spent has been printed.
    """
    if sys.stdin.isatty() and not agreed:
        answer = input("Ask the model now? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            raise ConfigurationError("nothing was asked, nothing was spent")
    told = ""
    with reported("fill"), Progress(unit=" texts", total=texts) as bar:

        def show(done: int, total: int, usd: float) -> None:
            nonlocal told
            told = f"{done} done; US$ {usd:.4f} spent, and at most what was in flight"
            bar.total = max(bar.total or 0, total)
            bar.set_postfix_str(f"${usd:.4f}", refresh=False)
            bar.update(done - bar.n)

        try:
            yield show
        except KeyboardInterrupt:
            if told:
                complain(told)
            raise


def fill(workflow: Workflow[Any], agreed: bool) -> None:
    """As `asked`. Raises MemoryMiss where something is still missing."""
    report = asked(workflow, agreed)
    if report.missing or report.stopped:
        raise MemoryMiss(
            f"{report.missing} texts are still missing, {len(report.failed)} of them after a "
            f"failure. {report.stopped or f'Fill again, or {workflow.use.advice}'}"
        )
    publish = "; write the memory with: python -m bears memory publish"
    print(f"nothing is missing{publish if report.answered else ''}")


def asked(workflow: Workflow[Any], agreed: bool) -> FillReport:
    """Show the plan, ask the model for what is missing, and report what fails.

    Args:
        workflow: of the use.
        agreed: whether ``--yes`` was given.

    Raises:
        ConfigurationError: the person at the terminal does not agree; as of `Workflow.fill`.
    """
    plan = workflow.plan()
    show_plan(workflow, plan)
    if not plan.calls:
        return FillReport()
    with spending(sum(plan.calls.values()), agreed) as show:
        report = workflow.fill(show)
    report.tell(workflow.use.name)
    return report


def show_plan(workflow: Workflow[Any], plan: FillPlan) -> None:
    """Print what filling would cost."""
    price, settings = workflow.price, workflow.use.settings
    rows = [
        ("for", workflow.use.wanted),
        ("model", f"{settings.model} ({settings.backend})"),
        ("calls", ", ".join(f"{n} {field}" for field, n in plan.calls.items()) or "none"),
        ("in memory already", plan.in_memory),
        ("input tokens", "{:,} to {:,}".format(*plan.input_tokens)),
        ("output tokens", "{:,} to {:,}".format(*plan.output_tokens)),
        ("price", "US$ {:.4f} to {:.4f}".format(*plan.usd)),
        ("per million tokens", f"{price.input} in, {price.output} out"),
    ]
    print_plan(rows, price, settings.budget)


def print_plan(rows: Sequence[tuple[str, object]], price: Price, budget: float | None) -> None:
    """Print a plan, with where its price is from and what may be spent."""
    last = [
        ("price from", f"{price.source} ({price.date or 'no date'})"),
        ("budget", "no limit" if budget is None else f"US$ {budget}"),
    ]
    print(tabulate([*rows, *last], tablefmt="plain", disable_numparse=True))
