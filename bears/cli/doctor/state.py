"""The files in which DVC and git keep their state, as a kill may leave them."""

import fcntl
import re
import shlex
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from bears.cli.doctor.finding import Finding, from_head, git
from bears.cli.doctor.processes import named

TEMPORARY = Path(".dvc/tmp")


def written(root: Path) -> Iterator[Finding]:
    """Whether dvc.lock is whole, which a kill may cut; without it nothing was made yet."""
    from dvc.schema import COMPILED_LOCKFILE_SCHEMA
    from dvc.utils.strictyaml import YAMLValidationError, validate

    from bears.errors import FormatError
    from bears.files.intake.yaml_text import yaml_value

    path, problem = root / "dvc.lock", ""
    if not path.exists():
        return
    try:
        content = yaml_value(path, path.name)
        if content is None:
            problem = "is empty"
        else:
            validate(content, COMPILED_LOCKFILE_SCHEMA)
    except YAMLValidationError:
        problem = "is damaged or cut; DVC refuses it"
    except FormatError as error:
        problem = f"cannot be read: {error}"
    if problem:
        # Without it, DVC takes every stage from its cache or runs it.
        mend = from_head(root, path.name) or "rm dvc.lock && dvc repro"
        yield Finding(f"{path.name} {problem}", mend)


def locks(root: Path) -> Iterator[Finding]:
    """What dvc and git hold while they work, or kept when they were killed."""
    for folder in (TEMPORARY, TEMPORARY / "exps"):
        yield from _rwlock(root, folder / "rwlock")
    if pid := _holder_of_lock(root / TEMPORARY / "lock"):
        who = named(pid) or pid
        what = f"process {who} holds DVC's lock, and no other can begin. Wait, or where it hangs"
        yield Finding(what, f"kill {pid}")
    yield from _detached(root)


def _rwlock(root: Path, path: Path) -> Iterator[Finding]:
    """Who reads and writes what, as DVC writes it down."""
    from bears.errors import FormatError
    from bears.files.intake.json_text import json_value

    if not (root / path).exists():
        return
    try:
        kept = json_value(root / path)
        writers, readers = kept.get("write", {}).values(), kept.get("read", {}).values()
        entries = [*writers, *(entry for some in readers for entry in some)]
        pids = {int(entry["pid"]): entry["cmd"] for entry in entries}
    except (FormatError, ValueError, TypeError, KeyError, AttributeError):
        yield Finding(f"{path} is empty, cut or damaged, and every dvc stops there", f"rm {path}")
        return
    strangers = [
        f"{pid} (now {named(pid) or 'no process'}, then {command})"
        for pid, command in pids.items()
        if not re.search(r"\bdvc\b", named(pid))
    ]
    if strangers and len(strangers) == len(pids):
        what = f"{path} holds entries of a dvc that was killed: {', '.join(strangers)}"
        yield Finding(what, f"rm {path}")


def _holder_of_lock(path: Path) -> int:
    """The process that holds DVC's own lock; 0 where none does."""
    if not path.is_file():
        return 0
    try:
        with path.open() as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return int(path.read_text().split()[0])
    return 0


def _detached(root: Path) -> Iterator[Finding]:
    """`dvc exp run` leaves the branch and comes back at its end, which a kill prevents."""
    note = root / TEMPORARY / "exps" / "run" / "workspace" / "workspace.json"
    if not note.is_file() or git(root, "symbolic-ref", "--quiet", "HEAD") is not None:
        return
    pid: Any = re.search(r'"pid": *(\d+)', note.read_text(encoding="utf-8"))
    log = git(root, "log", "-g", "-1", "--format=%gs") or ""
    moved = re.match(r"checkout: moving from (\S+) to [0-9a-f]{40}$", log)
    if moved and not (pid and "dvc" in named(int(pid[1]))):
        what = f"a `dvc exp run` was killed and left git on no branch; it was on {moved[1]}"
        yield Finding(what, f"git switch {shlex.quote(moved[1])}")


def hashes(root: Path) -> Iterator[Finding]:
    """The databases in which DVC remembers which file had which hash."""
    from dvc.config import Config
    from dvc.repo import Repo

    begun = root / TEMPORARY / "btime"
    if not begun.exists():
        return
    # Their place, by DVC's own rule, without an opened `Repo`, which writes files.
    config = Config(dvc_dir=str(root / ".dvc"))
    as_repo = SimpleNamespace(
        config=config, fs=None, root_dir=str(root.resolve()), _btime=begun.stat().st_mtime
    )
    folder = Path(Repo.__dict__["site_cache_dir"].fget(as_repo))
    for database in sorted(folder.rglob("cache.db")):
        try:
            with sqlite3.connect(f"{database.as_uri()}?immutable=1", uri=True) as connection:
                [[state]] = connection.execute("PRAGMA quick_check(1)").fetchall()
        except sqlite3.DatabaseError as error:
            state = str(error)
        if state != "ok":
            what = f"{database} is damaged ({state}), and DVC cannot begin without it"
            yield Finding(what, f"rm -r {shlex.quote(str(folder))}")
            return
