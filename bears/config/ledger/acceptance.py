"""Accepted findings: ``benchmark.accept`` in the configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from bears.config.typed import Keys
from bears.types import Closed, Finding


@dataclass(frozen=True)
class Acceptance(Closed):
    """A finding that is true and accepted.

    Args:
        check: the check that made the finding.
        record_id: the record it is about, or ``*`` for any.
        reason: why it is accepted.
        field: accept only findings about this field; empty: about any field, or none.
    """

    check: str
    record_id: str
    reason: str
    field: str = ""


@dataclass(frozen=True)
class BenchmarkAcceptances(Keys):
    """The language of the benchmark, and the findings about it that are accepted."""

    accept: tuple[Acceptance, ...]
    language: str


def accept(findings: Iterable[Finding], accepted: Sequence[Acceptance]) -> list[Finding]:
    """Return the findings; accepted ones get the severity ``accepted``."""
    return [_judged(finding, accepted) for finding in findings]


def _judged(finding: Finding, accepted: Sequence[Acceptance]) -> Finding:
    for entry in accepted:
        of_field = entry.field in ("", finding.field)
        of_record = entry.record_id in ("*", finding.record_id)
        if entry.check == finding.check and of_record and of_field:
            return replace(
                finding, severity="accepted", message=f"{finding.message} ({entry.reason})"
            )
    return finding
