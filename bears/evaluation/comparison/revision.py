"""What a DVC revision scored, read from git and DVC's cache: nothing is checked out."""

import hashlib
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from typing_extensions import TypedDict

from bears.config import parse
from bears.errors import FormatError
from bears.evaluation.comparison.values import System, read_values
from bears.files.intake.files import decoded, read_whole
from bears.files.intake.json_text import json_value
from bears.files.intake.yaml_text import yaml_value
from bears.files.manifest import check

WORKSPACE = "workspace"
METRICS = "metrics/retrieval.json"
EXPERIMENTS = "refs/exps/"
NEWEST_FIRST = ("--sort=refname", "--sort=-committerdate", "--format=%(refname) %(objectname)")
ANSWERS = ("pass_rate", "answer_f1", "exact_match")
GROUPS = ("retriever", "generator", "judge", "rewriter", "vector_store", "chunking", "overrides")
"""The words of params.yaml that tell systems of one benchmark apart."""


class Records(TypedDict):
    """What is read of the block ``benchmark``."""

    name: str
    state: str
    queries: str
    corpus: str


class Measured(TypedDict):
    """What is read of metrics/retrieval.json; docs/pipeline.md has all of it."""

    benchmark: Records
    tie_range: dict[str, dict[str, float]]


@dataclass(frozen=True)
class Revision:
    """A state of the project: a commit, or (``commit`` empty) the files as they lie here.

    Args:
        name: what the user calls it.
        commit: in hexadecimal.
        cache: DVC's cache.
    """

    name: str
    commit: str
    cache: Path

    def text(self, path: str) -> str:
        """A file that git tracks. Raises FormatError."""
        where = f"{self.name}: {path}"
        if not self.commit:
            return decoded(read_whole(Path(path)), where)
        found = git("cat-file", "blob", f"{self.commit}:./{path}")
        if found is None:
            raise FormatError(f"{where}: no such file; is it a state of this project?")
        return decoded(found, where)

    @cached_property
    def outputs(self) -> Mapping[str, str]:
        """Path to md5 of everything that DVC made. Raises FormatError."""
        lock = yaml_value(self.text("dvc.lock"), f"{self.name}: dvc.lock")
        try:
            stages = lock["stages"].values()
            return {
                str(out["path"]): str(out["md5"])
                for stage in stages
                for out in stage.get("outs", ())
            }
        except (AttributeError, KeyError, TypeError):
            raise FormatError(f"{self.name}: dvc.lock: not as DVC writes it") from None

    def output(self, pattern: str) -> Path | None:
        """The file of an output, whose whole path fits ``pattern``; None where there is none.

        Raises:
            FormatError: it was made, but its content is not here any more, or is damaged.
        """
        path = next((path for path in self.outputs if re.fullmatch(pattern, path)), None)
        if path is None:
            return None
        if self.commit:
            return self._cached(self.outputs[path], path)
        if (file := Path(path)).is_file():
            check(file)
        return file

    def within(self, pattern: str, name: str) -> Path | None:
        """A file of an output that is a folder."""
        folder = self.output(pattern)
        if folder is None or not self.commit:
            return folder and folder / name
        for part in json_value(folder):
            if part["relpath"] == name:
                return self._cached(part["md5"], name)
        return None

    def _cached(self, digest: str, path: str) -> Path:
        place = self.cache / "files" / "md5" / digest[:2] / digest[2:]
        if not place.is_file():
            raise FormatError(
                f"{self.name}: {path} is not in DVC's cache ({place}): it was never made here, or "
                f"is deleted. To make it: `dvc exp apply {self.name}`, `dvc repro`"
            )
        found = hashlib.md5(read_whole(place), usedforsecurity=False).hexdigest()
        if found != digest.removesuffix(".dir"):
            raise FormatError(f"{place} in DVC's cache is damaged; see python -m bears doctor")
        return place


def git(*words: str) -> bytes | None:
    """What git prints; None where it fails."""
    done = subprocess.run(["git", *words], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def commit_of(word: str) -> str:
    """The commit of a revision or an experiment; empty where nothing is called so.

    Raises:
        FormatError: several experiments are.
    """
    own = git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    if own:
        return own.decode().strip()
    found = {commit for name, commit in experiments(all_commits=True) if name == word}
    if len(found) > 1:
        raise FormatError(f"{len(found)} experiments are called {word}; name one by its commit")
    return next(iter(found), "")


def experiments(all_commits: bool = False) -> Iterator[tuple[str, str]]:
    """The name and the commit of each experiment of HEAD or of every commit, newest first."""
    head = (git("rev-parse", "HEAD") or b"").decode().strip()
    listed = git("for-each-ref", *NEWEST_FIRST, EXPERIMENTS) or b""
    for line in listed.decode().splitlines():
        match = re.fullmatch(r"refs/exps/(\w{2})/(\w{38})/(\S+) (\w+)", line)
        if match and (all_commits or head == match[1] + match[2]):
            yield match[3], match[4]


def system_at(revision: Revision) -> System:
    """What the retriever, and the generator if there is one, of a revision scored.

    Raises:
        FormatError: it has no results, or they are not here any more.
    """
    metrics = measured_at(revision)
    selected, benchmark = selection_at(revision), metrics["benchmark"]
    # After another choice the results are still those of the last one.
    retriever = str(selected.get("retriever"))
    questions = revision.output(rf"data/[^/]+/runs/{re.escape(retriever)}\.questions\.csv")
    if questions is None:
        raise FormatError(
            f"{revision.name}: no results by question of {retriever}, which params.yaml chooses; "
            "run `dvc repro` there"
        )
    if benchmark["name"] != selected.get("benchmark"):
        raise FormatError(
            f"{revision.name}: {METRICS} is of {benchmark['name']}, params.yaml chooses "
            f"{selected.get('benchmark')}; run `dvc repro`"
        )
    called = f"{revision.name}: values by question"
    values, kinds = read_values(questions, called, unjudged=True)
    return System(
        revision.name,
        ", ".join(str(selected[g]) for g in ("retriever", "generator") if chosen(selected, g)),
        _with_answers(revision, values),
        kinds,
        {**benchmark},
        metrics["tie_range"],
        revision.output(r"data/[^/]+/runs/[^/]+(?<!\.within)\.trec"),
        revision.within(r"data/[^/]+/translated", "queries.json"),
    )


def chosen(selected: Mapping[str, Any], group: str) -> bool:
    """Whether params.yaml chooses something in a group."""
    return selected.get(group) not in (None, "", "none", [])


def _with_answers(revision: Revision, values: pd.DataFrame) -> pd.DataFrame:
    path = revision.output(r"data/[^/]+/answers/[^/]+\.questions\.csv")
    # Without a generator there is the header alone.
    if path is None or len(read_whole(path).splitlines()) < 2:
        return values
    answers, _ = read_values(path, f"{revision.name}: answers by question", ANSWERS)
    return values.join(answers[[name for name in ANSWERS if name in answers]])


def measured_at(revision: Revision) -> Measured:
    """What is read of the metrics of a revision. Raises FormatError."""
    where = f"{revision.name}: {METRICS}"
    return parse(Measured, json_value(revision.text(METRICS).encode(), where), where)


def configuration_at(revision: Revision) -> Mapping[str, Any]:
    """data/config.yaml of a revision. Raises FormatError."""
    return _mapping(revision, "data/config.yaml")


def selection_at(revision: Revision) -> Mapping[str, Any]:
    """params.yaml of a revision. Raises FormatError."""
    return _mapping(revision, "params.yaml")


def _mapping(revision: Revision, path: str) -> Mapping[str, Any]:
    found = yaml_value(revision.text(path), f"{revision.name}: {path}")
    if not isinstance(found, dict):
        raise FormatError(f"{revision.name}: {path}: expected a mapping")
    return found
