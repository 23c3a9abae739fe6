"""``bears doctor``: find the leftovers of killed runs, and suggest the fix.

They are locks, git without a branch, and processes.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bears.config.packaged import require_project
from bears.errors import BearsError, FormatError
from bears.files.intake.json_text import json_value

TEMPORARY = Path(".dvc/tmp")


@dataclass(frozen=True)
class Damage:
    """Something that is wrong with a project.

    Args:
        what: one sentence that names the file or process.
        fix: a command for the project's root that fixes it.
    """

    what: str
    fix: str


def diagnose() -> None:
    """Find damage in this project and suggest fixes.

    Finds what killed runs left, and prints a command that fixes each. Changes nothing. Exits with 0
    if nothing was found.
    """
    root = Path.cwd()
    require_project()
    checks = {
        "locks of git and DVC": locks,
        "the branch of git": detached,
        "processes of stages": orphans,
    }
    wrong = 0
    for name, check in checks.items():
        try:
            for damage in check(root):
                print(f"{damage.what}\n    fix: {damage.fix}")
                wrong += 1
        except (BearsError, OSError) as error:
            print(f"could not be checked: {name}: {error}")
            wrong += 1
    if wrong:
        sys.exit(1)
    print(f"nothing found. Checked: {'; '.join(checks)}")


COMMAND = diagnose


def locks(root: Path) -> Iterator[Damage]:
    """Yield each lock of git and DVC, unless one of their processes is running here."""
    temporary = root / TEMPORARY
    # All worktrees of a repository share this folder.
    shared = (root / _git(root, "rev-parse", "--git-common-dir")).resolve()
    # DVC copies the checkout below its own folder, where dvc.lock is not a lock.
    repositories = [shared, *temporary.glob("exps/**/.git")]
    found = [lock for folder in repositories for lock in folder.rglob("*.lock")]
    found += [lock for folder in (temporary.parent, temporary) for lock in folder.glob("*.lock")]
    # The kernel frees rwlock.lock when its holder ends; DVC never removes the file.
    found = [lock for lock in found if lock.is_file() and lock.name != "rwlock.lock"]
    found += [file for file in (temporary / "rwlock", temporary / "exps/rwlock") if _is_stale(file)]
    at_work = (each for place in {root, shared.parent} for each in _processes(place))
    if found and not any(_runs(each, "git") or _runs(each, "dvc") for each in at_work):
        for lock in sorted(found):
            what = f"{lock} was left by a git or dvc that was killed"
            yield Damage(what, f"rm {shlex.quote(str(lock))}")


def _is_stale(rwlock: Path) -> bool:
    """Return whether DVC's record of readers and writers is damaged or not empty."""
    if not rwlock.is_file():
        return False
    try:
        kept = json_value(rwlock)
    except FormatError:
        return True
    return not isinstance(kept, dict) or any(kept.values())


def detached(root: Path) -> Iterator[Damage]:
    """Yield the branch that a killed `dvc exp run` left and would have returned to."""
    note = root / TEMPORARY / "exps" / "run" / "workspace" / "workspace.json"
    if not note.is_file() or _git(root, "symbolic-ref", "--quiet", "HEAD"):
        return
    log = _git(root, "log", "-g", "-1", "--format=%gs")
    moved = re.match(r"checkout: moving from (\S+) to [0-9a-f]{40}$", log)
    if moved and not any(_runs(each, "dvc") for each in _processes(root)):
        what = f"a `dvc exp run` was killed and left git on no branch; it was on {moved[1]}"
        yield Damage(what, f"git switch {shlex.quote(moved[1])}")


def orphans(root: Path) -> Iterator[Damage]:
    """Yield each stage that still runs although the DVC that started it is gone."""
    import psutil

    for process in _processes(root):
        words = _words(process)
        stage = next((word for word in words if word.startswith("stages.")), "")
        try:
            started_by_dvc = "DVC_ROOT" in process.environ()
            alone = not any(_runs(parent, "dvc") for parent in process.parents())
        except (psutil.Error, OSError):
            continue
        if stage and "-m" in words and started_by_dvc and alone:
            what = f"process {process.pid} runs {stage} here, but the dvc that started it is gone"
            yield Damage(what, f"kill {process.pid}")


def _git(root: Path, *words: str) -> str:
    """Return the output of a git command that changes nothing; "" if it fails."""
    variables = {**os.environ, "GIT_OPTIONAL_LOCKS": "0"}
    done = subprocess.run(["git", *words], cwd=root, env=variables, capture_output=True)
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else ""


def _processes(root: Path) -> Iterator[Any]:
    """Yield every other process with its current folder in the checkout."""
    import psutil

    for process in psutil.process_iter():
        try:
            inside = Path(process.cwd()).is_relative_to(root.resolve())
        except (psutil.Error, OSError):
            continue  # It has just ended, or is another user's.
        if inside and process.pid != os.getpid():
            yield process


def _words(process: Any) -> list[str]:
    import psutil

    try:
        return list(process.cmdline())
    except (psutil.Error, OSError):
        return []


def _runs(process: Any, program: str) -> bool:
    """Return whether a process runs this program, also as a script of an interpreter."""
    return any(Path(word).name == program for word in _words(process)[:3])
