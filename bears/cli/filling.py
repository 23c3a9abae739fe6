"""Filling the memory of one use before a person's eyes: the plan, the bar, what came of it."""

from typing import Any

from tabulate import tabulate

from bears.cli.spending import show, spending
from bears.errors import MemoryMiss
from bears.files.shown import complain
from bears.llm.fill import FillReport
from bears.llm.workflow import FillPlan, Workflow


def fill(workflow: Workflow[Any], agreed: bool) -> None:
    """As `asked`, where everything is needed.

    Raises:
        MemoryMiss: something is missing still.
    """
    report = asked(workflow, agreed)
    if report.missing or report.stopped:
        raise MemoryMiss(
            f"{report.missing} texts are still missing, {len(report.failed)} of them after a "
            f"failure. {report.stopped or f'Fill again, or {workflow.use.advice}'}"
        )
    publish = "; write the memory with: python -m bears memory publish"
    print(f"nothing is missing{publish if report.answered else ''}")


def asked(workflow: Workflow[Any], agreed: bool) -> FillReport:
    """Show the plan, and ask the model for what is missing; what fails is told.

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
    with spending(sum(plan.calls.values()), agreed) as bar:

        def progress(done: int, total: int, usd: float) -> None:
            bar.total = max(bar.total or 0, total)
            show(bar, done, usd)

        report = workflow.fill(progress)
    print(report.told(workflow.use.name))
    for failure in report.failures():
        complain(failure)
    return report


def show_plan(workflow: Workflow[Any], plan: FillPlan) -> None:
    """What filling would cost, as a table."""
    price, settings = workflow.price, workflow.use.settings
    rows: list[list[object]] = [
        ["for", workflow.use.wanted],
        ["model", f"{settings.model} ({settings.backend})"],
        ["calls", ", ".join(f"{n} {field}" for field, n in plan.calls.items()) or "none"],
        ["in memory already", plan.in_memory],
        ["input tokens", "{:,} to {:,}".format(*plan.input_tokens)],
        ["output tokens", "{:,} to {:,}".format(*plan.output_tokens)],
        ["price", "US$ {:.4f} to {:.4f}".format(*plan.usd)],
        ["per million tokens", f"{price.input} in, {price.output} out"],
        ["price from", f"{price.source} ({price.date or 'no date'})"],
        ["budget", "no limit" if settings.budget is None else f"US$ {settings.budget}"],
    ]
    print(tabulate(rows, tablefmt="plain", disable_numparse=True))
