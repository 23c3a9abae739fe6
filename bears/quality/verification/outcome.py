"""Print the findings of a stage, and stop the pipeline where one of them is an error."""

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from bears.errors import VerificationFailed
from bears.files.shown import complain
from bears.files.visible import one_line
from bears.types import Finding

SHOWN = 20
"""How many findings of one kind are printed."""


def conclude(findings: Sequence[Finding], file: Path) -> None:
    """Print the first findings of each kind.

    Args:
        file: it has all of them.

    Raises:
        VerificationFailed: a finding is an error.
    """
    for (check, severity), number in Counter((f.check, f.severity) for f in findings).items():
        show = complain if severity == "error" else print
        same = (f for f in findings if (f.check, f.severity) == (check, severity))
        for finding in islice(same, SHOWN):
            place = ": ".join(filter(None, (one_line(finding.record_id), finding.field)))
            show(f"{severity}: {check}: {place}: {finding.message}")
        if number > SHOWN:
            show(f"{severity}: {check}: … and {number - SHOWN} more")
    if errors := sum(finding.severity == "error" for finding in findings):
        raise VerificationFailed(
            f"{errors} findings of severity error (above, and in {file}); correct the records "
            "through the ledger or the kept replies, or accept a finding with its reason under "
            "benchmark.accept in conf/benchmark/"
        )
