"""``python -m bears doctor``: what keeps a checkout from working, and the command that mends it.

It works where nothing else does, so no module of this room imports a package before it is needed,
and nothing is changed.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bears.cli.doctor import environment, leftovers, objects, selection, state
from bears.cli.doctor.finding import Finding
from bears.errors import first_line

CHECKS: dict[str, Callable[[Path], Iterable[Finding]]] = {
    "Python, its packages, dvc": environment.programs,
    "git": environment.repository,
    "dvc.lock": state.written,
    "locks of DVC": state.locks,
    "DVC's record of hashes": state.hashes,
    "processes of stages": leftovers.orphans,
    "half-written files": leftovers.scratch,
    "params.yaml, conf/, data/config.yaml, the memory": selection.check,
}
LONG: dict[str, Callable[[Path], Iterable[Finding]]] = {
    "the content of DVC's cache and of the outputs": objects.check,
}
ROOT = ("dvc.yaml", ".dvc", "params.yaml", "conf")
DESCRIPTION = """Find what keeps this checkout from working, and print for each the command that
mends it. Nothing is changed. It reads all of DVC's cache; --quick does not. Exits with 0 when
nothing was found."""


def main(words: Sequence[str]) -> int:
    """Run the command with arguments of its own; 0 where nothing is wrong."""
    parser = argparse.ArgumentParser(prog="python -m bears doctor")
    add_arguments(parser)
    arguments = parser.parse_args(words)
    try:
        from bears.config.edge import ended
    except ImportError:
        arguments.run(arguments)
    return ended("bears", lambda: arguments.run(arguments))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``doctor``."""
    parser.description = DESCRIPTION
    parser.add_argument("--quick", action="store_true", help="leave the content of files alone")
    parser.set_defaults(run=lambda given: sys.exit(_examined(Path.cwd(), given.quick)))


def _examined(root: Path, quick: bool) -> int:
    if not any((root / name).exists() for name in ROOT):
        above = [folder for folder in root.parents if (folder / "dvc.yaml").exists()]
        there = above[0] if above else "CHECKOUT"
        found = [Finding(f"{root} is not the root of a checkout", f"cd {there}")]
        return _printed(found, [])
    found, unseen = [], []
    for name, check in (CHECKS if quick else CHECKS | LONG).items():
        try:
            for finding in check(root):
                found.append(finding)
        # A checkout can be broken in ways that nobody foresaw, and the other checks still count.
        except Exception as error:
            unseen.append(f"{name}: {type(error).__name__}, {first_line(error)}")
    return _printed(found, unseen, [] if not quick else list(LONG))


def _printed(found: Sequence[Finding], unseen: Sequence[str], left_out: Sequence[str] = ()) -> int:
    wrong = [finding for finding in found if finding.mend]
    for finding in wrong:
        print(f"{finding.what}\n    mend: {finding.mend}")
    for finding in found:
        if not finding.mend:
            print(f"note: {finding.what}")
    for line in unseen:
        print(f"could not be looked at: {line}")
    if left_out:
        print(f"not looked at with --quick: {', '.join(left_out)}")
    if wrong or unseen:
        print(f"{len(wrong)} found", file=sys.stderr)
        return 1
    seen = [name for name in CHECKS | LONG if name not in left_out]
    print(f"nothing found. Looked at: {'; '.join(seen)}")
    return 0
