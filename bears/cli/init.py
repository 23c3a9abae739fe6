"""``bears init``: make a project."""

import re
import shlex
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Literal

from bears.cli.new import GRADED, WITHOUT_QUESTIONS, Origin, add, quoted
from bears.config import AUTO
from bears.config.packaged import SHIPPED, pipeline
from bears.errors import ConfigurationError
from bears.files.intake.files import read_text
from bears.files.intake.yaml_text import yaml_value
from bears.files.records import write_text
from bears.files.shown import complain
from bears.layout import CONF, DATA, PARAMS, PIPELINE
from bears.results.recorded import flat

PLOTS = Path(".dvc/plots")
ROWS = DATA / "local" / "mini"
REPLIES = [DATA / "memory" / f"mini.{part}jsonl" for part in ("", "answers.", "verdicts.")]
README = Path(__file__).with_name("project.md")
WORKFLOWS = {"github": Path(".github/workflows/bears.yml"), "gitlab": Path(".gitlab-ci.yml")}


def init(folder: Path, origin: Origin, *, ci: Literal["github", "gitlab"] | None = None) -> None:
    """Make a project with a benchmark.

    Writes a small project, starts git and DVC where they are missing, and commits what it wrote.
    It changes no file that is there. Without an option, the project has `mini`, which needs no
    network.

    Args:
        folder: of the project; its name is that of the benchmark
        ci: write a workflow that runs `bears gate` on every change, and requirements.txt; also for
            a project that is there
    """
    if folder.resolve() == SHIPPED.resolve():
        raise ConfigurationError(f"{folder} is the checkout of BEARS; it is a project already")
    name = re.sub(r"[^\w.-]+", "-", folder.resolve().name).strip("-.")
    if ci and (folder / PARAMS).exists():
        commit(folder, _missing(folder, _workflow(ci)))
        print(f"{folder}: {WORKFLOWS[ci]} is there")
        _warn_of_paths(folder)
        return
    if (folder / PARAMS).exists() and not origin.given:
        raise ConfigurationError(
            f"{folder} is a project already: `bears upgrade` there renews it after an upgrade of "
            "the package, and `bears new` adds a benchmark"
        )
    shipped = origin.benchmark or ("" if origin.given else "mini")
    if shipped and not (SHIPPED / CONF / "benchmark" / f"{shipped}.yaml").is_file():
        there = sorted(path.stem for path in (SHIPPED / CONF / "benchmark").glob("*.yaml"))
        raise ConfigurationError(f"no benchmark {shipped!r:.80}; there are {', '.join(there)}")
    kept = (folder / CONF / "benchmark" / f"{name}.yaml").exists()
    written = _files(folder, shipped or name, ci)
    asked = True
    if not shipped and not kept:
        try:
            asked = add(name, origin, folder)
        except BaseException:
            for path in written:
                (folder / path).unlink()
            raise
        written.append(CONF / "benchmark" / f"{name}.yaml")
    commit(folder, written)
    if ci:
        _warn_of_paths(folder)
    print(
        f"{folder}: {'made' if written else 'there already'}, with the benchmark {shipped or name}"
    )
    command = f"dvc exp run {GRADED}" if origin.traces else "dvc repro"
    where = shlex.quote(str(folder))
    print(f"next: cd {where} && {command}" if asked else WITHOUT_QUESTIONS)


COMMAND = init


def _workflow(ci: str) -> dict[Path, str]:
    """Return the texts of a workflow and of what it installs."""
    return {
        WORKFLOWS[ci]: read_text(README.with_name("ci") / f"{ci}.yml"),
        Path("requirements.txt"): f"bears-bench=={version('bears-bench')}\n",
    }


def _warn_of_paths(folder: Path) -> None:
    """Warn of documents outside the project, which the machine that runs the gate lacks."""
    for file in sorted((folder / CONF / "benchmark").glob("*.yaml")):
        for name, value in flat(yaml_value(file)):
            if name.endswith(".path") and Path(str(value)).is_absolute():
                complain(
                    f"warning: {file}, {name}: {value} is a folder of this machine, so the gate "
                    "cannot read it elsewhere; move it into the project, and name it from there"
                )


def _files(folder: Path, benchmark: str, ci: str | None) -> list[Path]:
    """Write the files of a project that are missing; return their paths in it."""
    selection = read_text(SHIPPED / PARAMS)
    selection = re.sub("^benchmark: .*$", f"benchmark: {quoted(benchmark)}", selection, flags=re.M)
    if not (SHIPPED / CONF / "benchmark" / f"{benchmark}.yaml").is_file():
        selection = re.sub("^language: .*$", f"language: {AUTO}", selection, flags=re.M)
    texts = {
        PIPELINE: pipeline(),
        PARAMS: selection,
        **{Path(name): read_text(SHIPPED / name) for name in (".gitignore", ".dvcignore")},
        CONF / "source" / ".gitkeep": "",
        Path("README.md"): read_text(README).format(name=folder.resolve().name),
    }
    if benchmark == "mini":
        shipped = [ROWS / path.name for path in (SHIPPED / ROWS).glob("*.json")]
        texts |= {path: read_text(SHIPPED / path) for path in sorted([*shipped, *REPLIES])}
    return _missing(folder, texts | (_workflow(ci) if ci else {}))


def _missing(folder: Path, texts: Mapping[Path, str]) -> list[Path]:
    """Write the files that are missing; return their paths."""
    written = [path for path in texts if not (folder / path).exists()]
    for path in written:
        write_text(folder / path, texts[path])
    return written


def commit(folder: Path, written: list[Path], what: str = "add") -> None:
    """Start git and DVC where they are missing, and commit what was written."""
    top = run(folder, "git", "rev-parse", "--show-toplevel")
    if top is None and run(folder, "git", "init", "--quiet") is None:
        raise ConfigurationError(
            f"git cannot work in {folder}; install git, then run the same again"
        )
    within = top is not None and Path(top) != folder.resolve()
    if not (folder / ".dvc").is_dir():
        words = ["--subdir"] * within
        if run(folder, sys.executable, "-m", "dvc", "init", "--quiet", *words) is None:
            raise ConfigurationError(f"`dvc init` fails in {folder}; run it there to see why")
        run(folder, sys.executable, "-m", "dvc", "config", "core.autostage", "true")
        written += [Path(".dvc/config"), Path(".dvc/.gitignore")]
    templates = sorted((SHIPPED / PLOTS).glob("*.json"))
    written += _missing(folder, {PLOTS / each.name: read_text(each) for each in templates})
    if written:
        paths = [str(path) for path in written]
        someone = [] if run(folder, "git", "config", "user.email") else _AUTHOR
        run(folder, "git", "add", "--force", "--", *paths)
        changed = run(folder, "git", "status", "--porcelain", "--", *paths)
        words = ["commit", "--quiet", "-m", f"bears: {what} a project", "--", *paths]
        if changed and run(folder, "git", *someone, *words) is None:
            raise ConfigurationError(
                f"git cannot commit in {folder}; run `git commit` there, since experiments of DVC "
                "need a commit"
            )


_AUTHOR = ["-c", "user.name=bears init", "-c", "user.email=bears@localhost"]


def run(folder: Path, *words: str) -> str | None:
    """Return what a command prints; None if it fails or is missing."""
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
