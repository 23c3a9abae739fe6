"""``python -m bears doctor``: what kills and failing disks leave, and the command that fixes it."""

import argparse
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from bears.cli.doctor import leftovers, objects
from bears.cli.doctor.objects import Damage
from bears.errors import BearsError, ConfigurationError

CHECKS: dict[str, Callable[[Path], Iterable[Damage]]] = {
    "locks of git and DVC": leftovers.locks,
    "the branch of git": leftovers.detached,
    "processes of stages": leftovers.orphans,
    "half-written files": leftovers.half_written,
}
ALL = CHECKS | {"the content of DVC's cache and of the outputs": objects.check}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``doctor``."""
    parser.description = (
        "Find what killed runs and failing disks left in this checkout, and print for each the "
        "command that fixes it. Nothing is changed. It reads all of DVC's cache; --quick does "
        "not. Exits with 0 when nothing was found."
    )
    parser.add_argument("--quick", action="store_true", help="do not read the content of files")
    parser.set_defaults(run=lambda given: _examine(Path.cwd(), CHECKS if given.quick else ALL))


def _examine(root: Path, checks: dict[str, Callable[[Path], Iterable[Damage]]]) -> None:
    if not (root / "dvc.yaml").exists():
        raise ConfigurationError(f"no dvc.yaml in {root}; run from the project's root")
    wrong = 0
    for name, check in checks.items():
        try:
            for finding in check(root):
                print(f"{finding.what}\n    fix: {finding.fix}")
                wrong += 1
        except (BearsError, OSError) as error:
            print(f"could not be checked: {name}: {error}")
            wrong += 1
    if left_out := ", ".join(ALL.keys() - checks.keys()):
        print(f"not checked with --quick: {left_out}")
    if wrong:
        sys.exit(1)
    print(f"nothing found. Checked: {'; '.join(checks)}")
