"""Copies of the project in which a test may run the pipeline, edit, break and commit things."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAGES = ["config", "download", "sample", "translate", "verify", "audit", "index"]
STAGES += ["rewrite", "retrieve", "evaluate", "generate", "judge"]
SETTINGS = {
    "DVC_NO_ANALYTICS": "1",
    "GIT_AUTHOR_NAME": "Test",
    "GIT_AUTHOR_EMAIL": "test@example.org",
    "GIT_COMMITTER_NAME": "Test",
    "GIT_COMMITTER_EMAIL": "test@example.org",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "HF_HUB_OFFLINE": "1",
}


@dataclass(frozen=True)
class Workspace:
    """A copy of the project, committed to a git repository of its own, with a cache of its own."""

    root: Path

    def run(self, *command: str, code: int = 0, variables: Mapping[str, str] | None = None) -> str:
        """Run a command here and return what it printed, standard error included."""
        environment = {**environment_for(sys.executable), **(variables or {})}
        environment["DVC_SITE_CACHE_DIR"] = str(self.root.parent / f"{self.root.name}.site")
        done = subprocess.run(
            command,
            cwd=self.root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        assert done.returncode == code, f"{command} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout

    def dvc(self, *words: str, code: int = 0) -> str:
        return self.run("dvc", *words, code=code)

    def python(self, *words: str, code: int = 0) -> str:
        return self.run(sys.executable, "-m", *words, code=code)

    def git(self, *words: str) -> str:
        return self.run("git", *words)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "state")

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace one piece of text, which must be there exactly once."""
        text = self.text(path)
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        (self.root / path).write_text(text.replace(old, new), encoding="utf-8")

    def text(self, path: str) -> str:
        return (self.root / path).read_text(encoding="utf-8")

    def bytes_below(self, folder: str) -> dict[str, bytes]:
        """Every file below a folder: its path there, and its bytes."""
        top = self.root / folder
        files = sorted(path for path in top.rglob("*") if path.is_file())
        return {str(path.relative_to(top)): path.read_bytes() for path in files}

    def copied(self, to: Path) -> Workspace:
        # Three times as fast as shutil.copytree, and hundreds of tests wait for it.
        subprocess.run(["cp", "-a", self.root, to], check=True)
        return Workspace(to)

    def sharing(self, folder: Path) -> Workspace:
        """Let DVC take from the session's cache what another test made, and keep it there.

        It is for tests of what a stage makes, not of which stages run: those of the same code,
        inputs and settings run once. `folder` is as for `finished`.
        """
        cache = _of_the_session(folder) / "cache"
        (self.root / ".dvc/config.local").write_text(f"[cache]\n    dir = {cache}\n")
        return self


def environment_for(python: str) -> dict[str, str]:
    """This process's environment, with ``dvc`` and ``python`` from the folder of ``python``."""
    inherited = {name: value for name, value in os.environ.items() if name != "DVC_ROOT"}
    path = os.pathsep.join([str(Path(python).parent), inherited.get("PATH", os.defpath)])
    return {**inherited, **SETTINGS, "PATH": path}


def ran(output: str) -> list[str]:
    """The stages that DVC says it ran; those that came from its cache are not among them."""
    return re.findall(r"^Running stage '(\w+)'", output, re.MULTILINE)


def cached(output: str) -> list[str]:
    """The stages whose outputs DVC says it took from its cache."""
    return re.findall(r"^Stage '(\w+)' is cached", output, re.MULTILINE)


def fresh(to: Path) -> Workspace:
    """The project as a clone has it: nothing that is ignored by git, nothing run yet."""
    kept_data = {"local", "memory", "config.yaml", "language.yaml"}
    unwanted = {".git", ".venv", ".venv-ragas", ".env", ".bears", "__pycache__", "dvc_plots"}
    unwanted |= {"config.local"}

    def ignored(folder: str, names: list[str]) -> set[str]:
        left_out = {name for name in names if name in unwanted or name.endswith("_cache")}
        if Path(folder) == ROOT / ".dvc":
            left_out |= {"cache", "tmp"}
        if Path(folder) == ROOT / "data":
            left_out |= set(names) - kept_data
        return left_out

    shutil.copytree(ROOT, to, symlinks=True, ignore=ignored)
    workspace = Workspace(to)
    workspace.git("init", "--quiet", "--initial-branch", "main")
    workspace.commit()
    return workspace


def _of_the_session(folder: Path) -> Path:
    """Return the folder that all workers of a test session use, in which theirs are."""
    return (folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder) / "finished"


@cache
def finished(folder: Path) -> tuple[Workspace, str]:
    """A workspace in which the pipeline ran once, and what that printed.

    Asked again for the same folder (a test session's own), it is the same one, so it is for
    copying: a test that changes it changes it for all others.
    """
    top = _of_the_session(folder)
    top.mkdir(exist_ok=True)
    workspace, printed = Workspace(top / "project"), top / "printed.txt"
    with (top / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not printed.exists():
            # What is there is of a worker that failed.
            shutil.rmtree(workspace.root, ignore_errors=True)
            fresh(workspace.root)
            selection = workspace.text("params.yaml")
            assert re.search(r"^benchmark: mini$", selection, re.MULTILINE), "commit it with mini"
            output = workspace.dvc("repro", "--force")
            workspace.commit()
            # A thousand loose objects are slow to copy.
            workspace.git("gc", "--quiet")
            subprocess.run(["cp", "-a", workspace.root / ".dvc/cache", top], check=True)
            printed.write_text(output, encoding="utf-8")
    return workspace, printed.read_text(encoding="utf-8")


def sampled_with(workspace: Workspace, folder: Path, *words: str) -> Mapping[str, bytes]:
    """Run the sample stage by hand into a folder and return the files that it wrote."""
    workspace.python("stages.sample", *words, "--out", str(folder))
    return Workspace(folder).bytes_below(".")
