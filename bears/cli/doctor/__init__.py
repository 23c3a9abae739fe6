"""``bears doctor``: find what kills and failing disks leave, and suggest the fix."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

from bears.cli.doctor import leftovers, objects
from bears.cli.doctor.objects import Damage
from bears.errors import BearsError, ConfigurationError
from bears.layout import PIPELINE

CHECKS: dict[str, Callable[[Path], Iterable[Damage]]] = {
    "locks of git and DVC": leftovers.locks,
    "the branch of git": leftovers.detached,
    "processes of stages": leftovers.orphans,
    "half-written files": leftovers.half_written,
}
CONTENT = "the content of DVC's cache and of the outputs"


def diagnose(*, quick: bool = False) -> None:
    """Find damage in this checkout and suggest fixes.

    Finds what killed runs and failing disks left, and prints a command that fixes each. Changes
    nothing. Reads all of DVC's cache, unless --quick is given. Exits with 0 if nothing was found.

    Args:
        quick: do not read the content of files
    """
    root = Path.cwd()
    if not (root / PIPELINE).exists():
        raise ConfigurationError(f"no dvc.yaml in {root}; run from the project's root")
    checks = CHECKS if quick else {**CHECKS, CONTENT: objects.check}
    wrong = 0
    for name, check in checks.items():
        try:
            for damage in check(root):
                print(f"{damage.what}\n    fix: {damage.fix}")
                wrong += 1
        except (BearsError, OSError) as error:
            print(f"could not be checked: {name}: {error}")
            wrong += 1
    if quick:
        print(f"not checked with --quick: {CONTENT}")
    if wrong:
        sys.exit(1)
    print(f"nothing found. Checked: {'; '.join(checks)}")


COMMAND = diagnose
