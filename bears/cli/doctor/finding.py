"""What a check has to say."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a checkout, or, without a mend, good to know.

    Args:
        what: one sentence that names the file, process or setting.
        mend: a command for the checkout's root that puts it right.
    """

    what: str
    mend: str = ""


def git(root: Path, *words: str) -> str | None:
    """What a git command that changes nothing prints; None where it fails."""
    try:
        done = subprocess.run(
            ["git", *words],
            cwd=root,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
        )
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def from_head(root: Path, path: str) -> str:
    """The command that takes a file back as it was committed; empty where it never was."""
    # Not `git checkout dvc.lock`: DVC puts what it wrote into git's index, the damage included.
    there = git(root, "cat-file", "-e", f"HEAD:./{path}") is not None
    return f"git checkout HEAD -- {path}" if there else ""


def put_aside(root: Path, *paths: str) -> str:
    """The command that keeps what people changed in git's stash, and takes back what was committed.

    Without a change, a command that opens the first of the files.
    """
    words = ("-c", "diff.autoRefreshIndex=false", "diff", "--name-only", "HEAD", "--")
    if git(root, *words, *paths):
        return f"git stash push -- {' '.join(paths)}"
    return f"${{EDITOR:-vi}} {paths[0]}"


def size_of(path: Path) -> str:
    """How much a file takes, or a folder with all that is in it, in MB."""
    total = 0
    for file in [path, *path.rglob("*")]:
        try:
            total += file.lstat().st_size
        except OSError:
            continue  # Who made it has just removed it.
    return f"{total / 1e6:,.1f} MB"
