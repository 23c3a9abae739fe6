"""Asking a model in front of a person: the plan, the consent, the progress bar and the outcome."""

import sys
from typing import Any

from tabulate import tabulate

from bears.errors import ConfigurationError, RepliesMissing
from bears.files.progress import Progress
from bears.files.shown import complain
from bears.llm.fill import FillReport
from bears.llm.workflow import FillPlan, Workflow


def fill(workflow: Workflow[Any], agreed: bool) -> None:
    """Call `ask_missing`. Raises RepliesMissing if something is still missing."""
    report = ask_missing(workflow, agreed)
    if report.missing or report.stopped:
        raise RepliesMissing(
            f"{report.missing} texts are still missing, {len(report.failed)} of them after a "
            f"failure. {report.stopped or f'Fill again, or {workflow.use.advice}'}"
        )
    publish = "; publish the replies with: bears replies publish"
    print(f"nothing is missing{publish if report.answered else ''}")


def ask_missing(workflow: Workflow[Any], agreed: bool) -> FillReport:
    """Show the plan, ask the model for what is missing, and report what fails.

    A person at a terminal is asked for consent, and sees a bar.

    Args:
        agreed: whether ``--yes`` was given.

    Raises:
        ConfigurationError: the person does not agree; or as `Workflow.fill`.
        KeyboardInterrupt: passed on, after printing what was spent.
    """
    plan = workflow.plan()
    show_plan(workflow, plan)
    if not plan.calls:
        return FillReport()
    if sys.stdin.isatty() and not agreed:
        answer = input("Ask the model now? [y/N] ")
        if answer.strip().lower() not in ("y", "yes"):
            raise ConfigurationError("nothing was asked, nothing was spent")
    status = ""
    with Progress(unit=" texts", total=sum(plan.calls.values())) as bar:

        def show(done: int, total: int, usd: float) -> None:
            nonlocal status
            status = f"{done} done; US$ {usd:.4f} spent, and at most what was in flight"
            bar.total = max(bar.total or 0, total)
            bar.set_postfix_str(f"${usd:.4f}", refresh=False)
            bar.update(done - bar.n)

        try:
            report = workflow.fill(show)
        except KeyboardInterrupt:
            if status:
                complain(status)
            raise
    report.show(workflow.use.hint)
    return report


def publish(workflow: Workflow[Any]) -> None:
    """Write the replies that were used into the published file, and say how many there are."""
    total, new, _ = workflow.publish()
    print(f"{workflow.replies}: {total} entries, {new} of them new")


def show_plan(workflow: Workflow[Any], plan: FillPlan) -> None:
    """Print what filling would cost."""
    price, settings = workflow.price, workflow.use.settings
    rows: list[tuple[str, object]] = [
        ("for", workflow.use.wanted),
        ("model", settings.model),
        ("calls", ", ".join(f"{n} {field}" for field, n in plan.calls.items()) or "none"),
        ("kept already", plan.kept),
        ("input tokens", "{:,} to {:,}".format(*plan.input_tokens)),
        ("output tokens", "{:,} to {:,}".format(*plan.output_tokens)),
        ("per million tokens", f"{price.input} in, {price.output} out"),
        ("price from", f"{price.source} ({price.date or 'no date'})"),
        ("price", "US$ {:.4f} to {:.4f}".format(*plan.usd)),
        ("budget", "no limit" if settings.budget is None else f"US$ {settings.budget}"),
    ]
    print(tabulate(rows, tablefmt="plain", disable_numparse=True))
