"""Python, its packages, dvc and git."""

import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from bears.cli.doctor.finding import Finding, git
from bears.cli.doctor.processes import at_work, runs

ACTIVATE = "source .venv/bin/activate"


def programs(root: Path) -> Iterator[Finding]:
    """Whether `python` and `dvc`, as a shell finds them here, are those of one environment."""
    into = ACTIVATE if (root / ".venv" / "bin" / "activate").exists() else "make repro"
    here = Path(sys.executable).parent
    for name in ("python", "dvc"):
        there = shutil.which(name)
        owner = _owner(Path(there)) if there else None
        if there is None:
            yield Finding(f"{name} is not on PATH, and the pipeline calls it", into)
        elif not (owner and owner.exists()):
            yield Finding(f"{there} runs {owner}, which is not there", "rm -rf .venv && make repro")
        elif owner.parent.resolve() != here.resolve():
            yield Finding(f"{name} on PATH is of {owner}, but this is {sys.executable}", into)
    if missing := _missing(root):
        mend = "rm -f .venv/core && make .venv/core && " + ACTIVATE
        yield Finding(f"{sys.executable} lacks the packages {', '.join(missing)}", mend)


def _owner(program: Path) -> Path | None:
    """The interpreter that a script names in its first lines; a program that is no script."""
    with program.open("rb") as stream:
        if stream.read(2) != b"#!":
            return program
        # Where the path is long, pip writes a script of sh that calls the interpreter.
        found = re.search(r"/[^\n\"']*python[\d.]*", stream.read(600).decode(errors="replace"))
    return Path(found[0]) if found else None


def _missing(root: Path) -> list[str]:
    declared = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    missing = []
    for requirement in declared["project"]["dependencies"]:
        name = re.split(r"[^\w.-]", requirement)[0]
        try:
            version(name)
        except PackageNotFoundError:
            missing.append(name)
    return missing


def repository(root: Path) -> Iterator[Finding]:
    """Whether git works here, knows who commits, and was left in order by what was killed."""
    if shutil.which("git") is None:
        yield Finding("git is not on PATH; DVC's experiments need it", "apt-get install git")
        return
    folder = git(root, "rev-parse", "--absolute-git-dir")
    if folder is None:
        yield _no_repository(root)
        return
    for key in ("name", "email"):
        known = os.environ.get(f"GIT_COMMITTER_{key.upper()}") or git(root, "config", f"user.{key}")
        if not (known and known.strip()):
            what = f"git has no user.{key}, and an experiment of DVC fails without"
            yield Finding(what, f"git config user.{key} {'YOU' if key == 'name' else 'YOU@HOST'}")
    # First among the mends, since the others call git.
    yield from _stale_locks(root)


def _stale_locks(root: Path) -> Iterator[Finding]:
    """Yield each lock file of git and DVC that no living process of theirs can have made."""
    # All worktrees of a repository share this folder.
    shared = (root / (git(root, "rev-parse", "--git-common-dir") or "").strip()).resolve()
    temporary = root / ".dvc" / "tmp"
    # DVC copies the checkout below its own folder, and a copy's dvc.lock is no lock.
    repositories = [shared, *temporary.glob("exps/**/.git")]
    found = [lock for folder in repositories for lock in folder.rglob("*.lock")]
    found += [lock for folder in (temporary.parent, temporary) for lock in folder.glob("*.lock")]
    # The kernel frees this one when its holder ends, and DVC never removes the file.
    found = [lock for lock in found if lock.is_file() and lock.name != "rwlock.lock"]
    at_hand = (each for place in {root, shared.parent} for each in at_work(place))
    if found and not any(runs(each, "git") or runs(each, "dvc") for each in at_hand):
        for lock in sorted(found):
            what = f"{lock} was left by a git or dvc that was killed, and stops `dvc exp run`"
            yield Finding(what, f"rm {shlex.quote(str(lock))}")


def _no_repository(root: Path) -> Finding:
    if (root / ".git").exists() or any((above / ".git").exists() for above in root.parents):
        mend = f"git config --global --add safe.directory {shlex.quote(str(root))}"
        return Finding("git refuses this repository: it is damaged, or another user's", mend)
    if "no_scm" in _text(root / ".dvc" / "config.local"):
        return Finding("this is no git repository: `dvc repro` works, experiments do not")
    mend = "dvc config --local core.no_scm true"
    return Finding(
        "this is no git repository, and DVC was not told so; without git there are no experiments",
        mend,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
