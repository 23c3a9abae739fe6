"""Findings that are known and lived with: ``benchmark.accept`` in the configuration."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bears.config import parse
from bears.types import Closed, Finding


@dataclass(frozen=True)
class Acceptance(Closed):
    """A finding that is true, known and lived with.

    Args:
        check: its check.
        record_id: its record, or ``*`` for any.
        reason: why it is accepted.
        field: only what is said of this field; empty: of any, or of none.
    """

    check: str
    record_id: str
    reason: str
    field: str = ""


def acceptances(entries: Sequence[Any]) -> list[Acceptance]:
    """Return the entries of ``benchmark.accept``. Raises ConfigurationError."""
    return [parse(Acceptance, one, f"benchmark.accept.{i}") for i, one in enumerate(entries)]


def accept(findings: Iterable[Finding], accepted: Sequence[Acceptance]) -> list[Finding]:
    """The findings; what is accepted has the severity ``accepted``."""
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
